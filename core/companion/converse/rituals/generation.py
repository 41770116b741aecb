"""A routine put together by a model, where one may and can; else by the rules. Nothing is stored: it is a preview.

The model gets what the person wrote, the parts in use and constant words; of what it answers only a whole routine of
known steps with valid arguments stands. Source: spec/companion.md, RI-6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access import require
from core.companion.contract import ModuleTool
from core.companion.converse.llm.contract import Message, Reply, Request, Tier
from core.companion.converse.llm.detector import why_sensitive
from core.companion.converse.rituals.composer import STEPS_MOST, compose
from core.companion.converse.rituals.ritual import Ritual, Trigger
from core.companion.converse.rituals.rituals import checked, drafted
from core.companion.converse.rituals.step import SOURCES, Find
from core.companion.converse.rituals.steps import check_steps
from core.companion.reflect.goals.goal import Goal
from core.errors import InputError
from core.events.actor import Actor

WISH_LIMIT = 500
ANSWER_LIMIT = 20_000
_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\r?\n(.*?)```\s*", re.DOTALL)
PROMPT = f"""You put together a routine for the operator of a dashboard: a short list of steps to walk through.
It has 1 to {STEPS_MOST} steps. The types of a step and the fields of their config:
tool_call: tool, params (fixed arguments), ask (list of parameters that the person fills in)
number_input: tool, param (a number), base_params, unit, min, max, default
text_input: tool, param (a text), base_params, placeholder
mood_picker: tool, param (takes 1 to 5), base_params
info_display: source, one of {", ".join(SOURCES)}
checklist: items, a list of objects with a label and, if wanted, a tool and params
Use the tools listed below only, with valid arguments, and no ids, keys or names of people. The tools:
"""
# At the end, as a quotation mark with much behind it counts as a long quotation, which reaches no model.
SHAPE = """
Answer with one JSON object of this shape and nothing else:
{"title": "...", "description": "...", "trigger": "morning|evening|manual",
"steps": [{"type": "...", "label": "...", "config": {}}]}"""


@dataclass(frozen=True)
class Composed:
    """A preview. `tier` made it; `notes` say, for a person, why no other one did."""

    ritual: Ritual
    tier: Tier
    model: str | None = None
    notes: tuple[str, ...] = ()


class Generator:
    """Thread-safe. `complete` is the router's; `tools` are all tools there are; `in_use` tells the parts in use now."""

    def __init__(
        self,
        complete: Callable[[Request], Reply],
        tools: Iterable[ModuleTool],
        find: Find,
        in_use: Callable[[], tuple[str, ...]],
        goals: Callable[[], Sequence[Goal]],
    ) -> None:
        self._complete = complete
        self._tools = {tool.name: tool for tool in tools if tool.default_policy != "deny"}
        self._find = find
        self._in_use = in_use
        self._goals = goals

    def propose(self, actor: Actor, wish: str, trigger: Trigger, *, by_rules: bool = False) -> Composed:
        """Errors: Forbidden, InputError (a wish that is too long)."""
        require(actor, "change_rituals")
        wish = " ".join(wish.split())
        if len(wish) > WISH_LIMIT:
            raise InputError(f"This has at most {WISH_LIMIT} characters.", field="wish")
        in_use, goals = self._in_use(), self._goals()
        made = compose(wish, trigger, in_use, goals, self._find)
        if by_rules:
            return Composed(made, "rules")
        reply = self._complete(self._request(wish, trigger, in_use, goals))
        notes = tuple(skip.detail for skip in reply.tried)
        if reply.answer is None or reply.tier == "rules":
            return Composed(made, "rules", notes=notes)
        try:
            if reply.answer.blocked:
                raise InputError("the model would not answer")
            return Composed(self.parse(reply.answer.text, reply.tier), reply.tier, reply.model, notes)
        except InputError as fault:
            where = f" ({fault.field})" if fault.field else ""
            notes += (f"The answer of {reply.model or reply.tier} could not be used{where}: {fault.what}",)
            return Composed(made, "rules", notes=notes)

    def parse(self, text: str, tier: Tier) -> Ritual:
        """A model's answer as a routine. Errors: InputError naming the field; nothing of a bad answer is used."""
        if len(text) > ANSWER_LIMIT:
            raise InputError("It is too long.", field="answer")
        fenced = _FENCE.fullmatch(text)
        try:
            given = json.loads(fenced.group(1) if fenced else text)
        except (ValueError, RecursionError):
            raise InputError("It is no JSON.", field="answer") from None
        if not isinstance(given, Mapping) or not set(given) <= {"title", "description", "trigger", "steps"}:
            raise InputError("It is no object of a title, a description, a trigger and steps.", field="answer")
        if not isinstance(given.get("title"), str) or not isinstance(given.get("description", ""), str):
            raise InputError("Title and description are text.", field="title")
        if not isinstance(given.get("steps"), list):
            raise InputError("The steps are no list.", field="steps")
        steps = check_steps(given["steps"], self._tools.get, most=STEPS_MOST)
        trigger: Any = given.get("trigger", "manual")
        made = drafted(given["title"], trigger, steps, origin=tier, description=given.get("description") or None)
        return checked(made, self._tools.get)

    def _request(self, wish: str, trigger: str, in_use: tuple[str, ...], goals: Sequence[Goal]) -> Request:
        told = [_described(tool) for tool in self._tools.values()]
        # One tool whose description has a word that must not leave would keep the whole request in.
        tools = "\n".join(one for one in told if why_sensitive((), constant=[one]) is None)
        of_goals = sorted({goal.module for goal in goals if goal.status == "active"})
        asked = f"For the {trigger}." if trigger != "manual" else "For any time."
        asked += f"\nParts in use: {', '.join(in_use) or 'none'}.\nGoals in: {', '.join(of_goals) or 'none'}."
        asked += f"\nWish: {wish or 'none; choose what fits.'}"
        said = (Message("system", PROMPT + tools + SHAPE, constant=True), Message("user", asked))
        return Request("ritual", said, "personal", temperature=0.3, max_tokens=2048)


def _described(tool: ModuleTool) -> str:
    """One line, without quotation marks; see SHAPE."""
    told = []
    for p in tool.parameters:
        limits = (f" {word} {limit:g}" for word, limit in (("from", p.minimum), ("to", p.maximum)) if limit is not None)
        among = f" one of {', '.join(p.enum)}" if p.enum else "".join(limits)
        told.append(f"{p.name} ({p.type}{among}{', needed' if p.required else ''})")
    return f"{tool.name}: {tool.description} {'; '.join(told) or 'No parameters'}.".replace('"', "'")
