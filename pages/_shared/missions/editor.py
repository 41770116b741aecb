"""The mission form: what it is for, who plans it, when it runs, what it is told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.draft import (
    CONCEPT_LIMIT,
    INPUTS_MOST,
    OBJECTIVE_LIMIT,
    TITLE_LIMIT,
    TOKENS_A_DAY,
    TOKENS_MOST,
    MissionDraft,
)
from core.companion.act.missions.mission import Mission, Planner
from core.companion.act.missions.rule_plans import RULE_PLANS
from core.errors import CoreError, InputError
from pages._shared import formats, session
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.missions import reading, timing
from pages._shared.operations import outcome
from pages._shared.parts import only

EDITED, OPEN = "mission-edited", "mission-editor"
PLANNERS: Mapping[Planner, str] = {"rules": "Rules: a fixed plan, no model", "llm": "A model, each step through policy"}
FIELDS = {
    "title": "Title",
    "objective": "Objective",
    "concept": "Concept",
    "template": "Plan",
    "planner": "Planned by",
    "inputs": "What it is told",
    "token_budget": "Tokens a day",
}


def begin(mission: Mission | None) -> None:
    """A callback: the form with the values of a mission, or an empty one."""
    session.remember(EDITED, mission)
    session.remember(OPEN, True)
    outcome.new_form("mission")


def close() -> None:
    session.remember(EDITED, None)
    session.remember(OPEN, False)
    outcome.new_form("mission")


@only("change_missions")
def show() -> None:
    """A button, or the form itself while it is open."""
    if not session.remembered(OPEN, False):
        st.button("New mission", icon=":material/add:", key="mission-new", on_click=begin, args=(None,))
        return
    mission: Mission | None = session.remembered(EDITED, None)
    form = mission.id if mission else outcome.form_id("mission")
    says = "It reads by itself; what it wants to change waits for your yes, whoever plans it."
    with panel("Change a mission" if mission else "New mission", says), boundary("The mission form"):
        draft, fault = _fields(form, mission)
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Save", type="primary", key=f"{form}-save", on_click=save, args=(draft,), disabled=fault is not None
            )
            st.button("Cancel", key=f"{form}-cancel", on_click=close)


def save(draft: MissionDraft) -> None:
    """A callback; a fault names its field and the form stays."""

    def act(actor: Any) -> str:
        try:
            return reading.missions().save(actor, draft)
        except InputError as fault:
            raise InputError(f"{FIELDS.get(fault.field or '', 'Mission')}: {fault.what}", hint=fault.hint) from None

    done = reading.attempt("Save the mission", act)
    if done is not None:
        outcome.say("done", f"{draft.title.strip()}: {'made' if done == 'created' else 'changed'}.")
        reading.choose(draft.id)
        close()


def _fields(form: str, mission: Mission | None) -> tuple[MissionDraft, InputError | None]:
    chosen = st.segmented_control(
        FIELDS["planner"],
        list(PLANNERS),
        default=mission.planner if mission else "rules",
        key=f"{form}-planner",
        format_func=PLANNERS.__getitem__,
        required=True,
    )
    planner: Planner = chosen or "rules"
    template = _template(form, mission) if planner == "rules" else None
    if planner == "llm":
        _obstacle()
    # A new mission takes the words of the plan that is chosen; one that exists keeps its own.
    at = f"{form}-{template}" if mission is None else form
    plan = RULE_PLANS[template] if template and mission is None else None
    title = st.text_input(
        FIELDS["title"],
        mission.title if mission else plan.title if plan else "",
        key=f"{at}-title",
        max_chars=TITLE_LIMIT,
    )
    objective = st.text_area(
        FIELDS["objective"],
        mission.objective if mission else plan.objective if plan else "",
        key=f"{at}-objective",
        max_chars=OBJECTIVE_LIMIT,
        height=80,
        placeholder="What is to be found out or brought about, in a sentence or two.",
    )
    draft = MissionDraft(form, title, objective, planner=planner, template=template)
    if planner == "llm":
        draft = _for_a_model(form, mission, draft)
    elif mission is not None:
        draft = replace(draft, concept=mission.concept, inputs=mission.inputs, token_budget=mission.token_budget)
    cadence = timing.ask(at, mission.cadence if mission else plan.cadence if plan else Cadence())
    if isinstance(cadence, InputError):
        return draft, cadence
    return replace(draft, cadence=cadence), None


def _template(form: str, mission: Mission | None) -> str:
    plans = list(RULE_PLANS)
    before = mission.template if mission and mission.template in plans else plans[0]
    return st.selectbox(
        FIELDS["template"],
        plans,
        plans.index(before),
        key=f"{form}-template",
        format_func=lambda id: RULE_PLANS[id].label,
    )


def _for_a_model(form: str, mission: Mission | None, draft: MissionDraft) -> MissionDraft:
    """What only a model reads."""
    concept = st.text_area(
        f"{FIELDS['concept']} (may be empty)",
        mission.concept if mission else "",
        key=f"{form}-concept",
        max_chars=CONCEPT_LIMIT,
        height=100,
        placeholder="How to go about it, and what to leave alone. No names of people: with one no model is asked.",
    )
    choices = reading.choices()
    kept = mission.inputs if mission else ()
    gone = {one: f"{one.module}: not there any more" for one in kept if one not in choices}
    names = formats.apart({**choices, **gone})
    inputs = st.multiselect(
        FIELDS["inputs"],
        list(names),
        list(kept),
        key=f"{form}-inputs",
        format_func=lambda one: names.get(one, str(one)),
        max_selections=INPUTS_MOST,
        placeholder="Figures, titles and dates; of dialogs counts and dates alone",
    )
    tokens = st.number_input(
        FIELDS["token_budget"],
        0,
        TOKENS_MOST,
        mission.token_budget if mission else TOKENS_A_DAY,
        step=10_000,
        key=f"{form}-tokens",
        help="Beyond it the mission does not run until the next day.",
    )
    return replace(draft, concept=concept, inputs=tuple(inputs), token_budget=int(tokens))


def _obstacle() -> None:
    try:
        why = reading.model_obstacle()
    except CoreError:
        return
    if why:
        st.caption(f"No model would plan now: {why} Such a mission fails until one may, and says so.")
