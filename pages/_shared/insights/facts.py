"""Facts: what was learned, from how often, and what a person says to it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import streamlit as st

from core.companion.reflect.facts import Fact
from pages._shared import formats, session
from pages._shared.companion import mind
from pages._shared.feedback import empty
from pages._shared.layout import Figure, figures
from pages._shared.operations import outcome
from pages._shared.resources import core
from pages._shared.zone import my_zone

UNDONE = "fact-undo"
ORIGINS = {"rule": "from events", "llm": "from a model, accepted", "feedback": "from answers to nudges"}
SAID = {
    "confirmed": "confirmed",
    "contradicted": "contradicted: it is less sure now",
    "deleted": "forgotten",
    "restored": "back again",
}


def show(facts: Sequence[Fact]) -> None:
    """Surest first."""
    _undo()
    if not facts:
        empty(
            "Nothing was learned yet",
            "Once a day, at 03:30, the events of the last 30 days are looked through for weekdays, hours and "
            "frequencies that repeat. Seven to ten events of a kind are the least for that.",
        )
        return
    figures(
        Figure("Facts", str(len(facts))),
        Figure("Sure", str(sum(fact.confidence > 0.5 for fact in facts)), "Above 50 %: these reach the context."),
        Figure("From answers", str(sum(fact.origin == "feedback" for fact in facts)), "Learned from nudges."),
    )
    now = core().clock.now()
    for fact in facts:
        with st.container(border=True, gap="xsmall", key=f"fact-{fact.id}"):
            _card(fact, now)


def _card(fact: Fact, now: datetime) -> None:
    left, right = st.columns([4, 2], vertical_alignment="center")
    with left:
        st.text(fact.content)
        times = formats.plural(fact.confirmations, "time")
        against = f", contradicted {formats.plural(fact.contradictions, 'time')}" if fact.contradictions else ""
        st.caption(
            f"{fact.category} · {', '.join(fact.source_modules) or 'no module'} · {ORIGINS[fact.origin]} · seen {times}"
            f"{against} · last {formats.ago(fact.last_confirmed, now)}",
            help=f"Known since {formats.moment(fact.first_seen, my_zone())}; "
            f"{formats.plural(len(fact.source_events), 'event')} kept as its source.",
        )
    with right:
        st.progress(fact.confidence, text=f"{fact.confidence:.0%} sure")
        with st.container(horizontal=True, gap="small"):
            _button(fact, "Confirm", "confirmed", ":material/check:")
            _button(fact, "Contradict", "contradicted", ":material/close:")
            _button(fact, "Forget", "deleted", ":material/delete:")


def _button(fact: Fact, label: str, verdict: str, icon: str) -> None:
    st.button(label, key=f"fact-{verdict}-{fact.id}", icon=icon, type="tertiary", on_click=judge, args=(fact, verdict))


def judge(fact: Fact, verdict: str) -> None:
    """A callback."""
    done = mind.attempt(fact.content, lambda actor: mind.mind().facts.judge(actor, fact, verdict))
    if done is None:
        return
    if not done:
        once = "It counts once a day, and was confirmed today." if verdict == "confirmed" else "This was so already."
        outcome.say("note", f"{fact.content} {once}")
        return
    outcome.say("done", f"{fact.content} {SAID[verdict].capitalize()}.")
    session.remember(UNDONE, fact if verdict == "deleted" else None)


def _undo() -> None:
    fact = session.remembered(UNDONE, None)
    if fact is not None:
        st.button("Undo", key="fact-undo", icon=":material/undo:", on_click=judge, args=(fact, "restored"))
