"""A mission as a person writes it, and what is checked of it."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field, replace

from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.mission import Input, Planner
from core.errors import InputError

TITLE_LIMIT, OBJECTIVE_LIMIT, CONCEPT_LIMIT = 80, 2_000, 8_000
INPUTS_MOST = 20
TOKENS_A_DAY, TOKENS_MOST = 50_000, 10_000_000
_KEY = re.compile(r"(?<![0-9A-Za-z])[0-9A-Fa-f]{64}(?![0-9A-Za-z])")


@dataclass(frozen=True)
class MissionDraft:
    """`id` is made by the form, so that a double press is one mission. `template` names the plan of the rules."""

    id: str
    title: str
    objective: str
    concept: str = ""
    cadence: Cadence = field(default_factory=Cadence)
    planner: Planner = "rules"
    template: str | None = None
    inputs: tuple[Input, ...] = ()
    token_budget: int = TOKENS_A_DAY


def checked(draft: MissionDraft, *, plans: Collection[str], kinds: Collection[tuple[str, str]]) -> MissionDraft:
    """The draft, trimmed. Errors: InputError naming the field."""
    title = _text(draft.title, "title", 1, TITLE_LIMIT)
    objective = _text(draft.objective, "objective", 1, OBJECTIVE_LIMIT)
    concept = _text(draft.concept, "concept", 0, CONCEPT_LIMIT)
    if "\n" in title:
        raise InputError("A title is one line.", field="title")
    for name, text in (("title", title), ("objective", objective), ("concept", concept)):
        if _KEY.search(text):
            raise InputError("A dialog is named among the inputs, where an erasure finds it.", field=name)
    if draft.planner not in ("rules", "llm"):
        raise InputError("It is planned by rules or by a model.", field="planner")
    template = draft.template if draft.planner == "rules" else None
    if draft.planner == "rules" and template not in plans:
        raise InputError("Choose one of the plans.", field="template")
    if isinstance(draft.token_budget, bool) or not 0 <= draft.token_budget <= TOKENS_MOST:
        raise InputError(f"Tokens a day are a whole number up to {TOKENS_MOST:,}.", field="token_budget")
    inputs = tuple(dict.fromkeys(draft.inputs))
    if len(inputs) > INPUTS_MOST:
        raise InputError(f"A mission has at most {INPUTS_MOST} inputs.", field="inputs")
    for one in inputs:
        if (one.module, one.kind) not in kinds or not 0 < len(one.ref) <= 512:
            raise InputError("There is no such input.", field="inputs")
    return replace(draft, title=title, objective=objective, concept=concept, template=template, inputs=inputs)


def _text(value: str, name: str, least: int, most: int) -> str:
    text = value.replace("\x00", "").strip()
    if not least <= len(text) <= most:
        raise InputError(f"It has {least} to {most:,} characters.", field=name)
    return text
