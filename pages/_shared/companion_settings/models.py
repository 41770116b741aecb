"""Models: each tier as it stands, consent with its text, the outermost tier, single tasks, tokens a day, the zone."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.companion.converse.llm.choices import CONSENT_TEXT, TASKS, Choices, ModelChoices
from core.companion.converse.llm.contract import TIERS, Tier
from core.companion.converse.llm.router import CALLED, TierState
from pages._shared import formats
from pages._shared.companion_settings.acting import change
from pages._shared.layout import panel
from pages._shared.literal import words
from pages._shared.resources import core, settings
from pages._shared.zone import my_zone

NAMES = {"rules": "Rules, no model", "server": "Own server", "cloud": "Gemini (Google)"}
COLOURS = {"ready": "green", "off": "gray"}
FOR = {
    "chat": "Chat",
    "plan": "Plans of missions",
    "ritual": "Making routines",
    "extract": "The weekly look at counts",
}
AS_ABOVE = "as above"


def choices() -> ModelChoices:
    return core().companion.router.choices


def show() -> None:
    chosen = choices().read()
    with panel("Tiers", "The innermost one that may and can answer does. Whatever is sensitive is for rules alone."):
        for state in core().companion.router.states():
            _tier(state)
    left, right = st.columns(2)
    with left:
        _consent(chosen)
    with right:
        _limits(chosen)
    left, right = st.columns(2)
    with left:
        _tasks(chosen)
    with right, panel("Time zone", "Days, weeks, slots of rules and of missions are those of this zone."):
        st.text(settings().time_zone)
        st.caption("Set MEMORY_DESK_TZ and start anew to change it. Days that are counted already keep their zone.")


def _tier(state: TierState) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"tier-{state.tier}"):
        st.badge(state.state.replace("-", " "), color=COLOURS.get(state.state, "orange"))  # type: ignore[arg-type]
        st.markdown(f"**{NAMES[state.tier]}**")
        if state.model:
            st.caption(words(state.model), width="content")
        if state.why:
            st.text(state.why)


def _consent(chosen: Choices) -> None:
    with panel("Consent to Gemini", "Without it nothing is sent. It covers the companion alone: embeddings and photos "
               "have their own."):  # fmt: skip
        st.text(CONSENT_TEXT)
        if chosen.consent is None:
            st.button("I agree", type="primary", key="consent-agree", on_click=_agree)
            return
        at = formats.moment(chosen.consent.at, my_zone())[:16]
        st.text(f"{chosen.consent.by} agreed on {at}, to version {chosen.consent.version} of this text.")
        st.button("Take it back", key="consent-revoke", on_click=_revoke)


def _limits(chosen: Choices) -> None:
    with panel("Limits", "For every task together."):
        st.session_state["models-maximum"] = chosen.maximum
        st.segmented_control(
            "Nothing beyond",
            TIERS,
            format_func=NAMES.__getitem__,
            required=True,
            key="models-maximum",
            on_change=_maximum,
        )
        st.session_state["models-tokens"] = chosen.tokens_per_day
        st.number_input(
            "Tokens a day",
            min_value=0,
            max_value=1_000_000_000,
            step=10_000,
            key="models-tokens",
            on_change=_tokens,
            help="Prompt and completion of all tasks. Once they are used up only rules answer, until midnight.",
            width=220,
        )


def _tasks(chosen: Choices) -> None:
    with panel(
        "Single tasks", "One tier for a task alone. It may allow a tier, never what is sensitive or not agreed."
    ):
        for task in TASKS:
            key = f"models-task-{task}"
            st.session_state[key] = chosen.overrides.get(task, AS_ABOVE)
            st.selectbox(
                FOR[task],
                (AS_ABOVE, *TIERS),
                format_func=lambda tier: NAMES.get(tier, tier),
                key=key,
                on_change=_task,
                args=(task,),
            )


def _agree() -> None:
    change("Consent", choices().agree, "Consent is stored: Gemini may be asked from now on.")


def _revoke() -> None:
    change("Consent", choices().revoke, "Consent is taken back: nothing is sent to Gemini from now on.")


def _maximum() -> None:
    wanted: Tier = st.session_state["models-maximum"]
    said = f"Nothing beyond {CALLED[wanted]} is asked from now on."
    change("The outermost tier", partial(choices().allow, wanted), said)


def _tokens() -> None:
    wanted = int(st.session_state["models-tokens"])
    change("Tokens a day", partial(choices().limit, wanted), f"{wanted:,} tokens a day from now on.")


def _task(task: str) -> None:
    wanted = st.session_state[f"models-task-{task}"]
    tier: Tier | None = wanted if wanted in TIERS else None
    said = f"{FOR[task]}: {NAMES[tier] if tier else AS_ABOVE} from now on."
    change(FOR[task], partial(choices().override, task, tier), said)
