"""Rules on and off with what answers taught them, all of it to be forgotten at once; and the weekly look at counts."""

from __future__ import annotations

import streamlit as st

from core.companion.reflect.pulse.feedback import RuleView
from core.events import Actor
from pages._shared import formats
from pages._shared.companion import mind
from pages._shared.companion_settings.models import NAMES
from pages._shared.insights import learning
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.resources import core
from pages._shared.zone import my_zone


def show() -> None:
    _weekly()
    views = mind.rules().value
    learned = [view for view in views if view.rule.learnable and (view.total or learning.changed(view))]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Rules**")
        with st.popover("Forget all that was learned", disabled=not learned):
            st.text(
                f"The answers to {formats.plural(len(learned), 'rule')} count no more; slots and priorities return."
            )
            st.button("Forget it", key="forget-learning", type="primary", on_click=_forget, args=(learned,))
    learning.show(views)


def _weekly() -> None:
    with panel(
        "The weekly look at counts",
        "Once a week a model may see counts of four weeks, never a text, and propose what repeats; you decide on each.",
    ):
        note = core().companion.extraction.latest()
        if note is None:
            st.text("It has not been done yet: it comes with the daily job.")
        elif note.why:
            st.text(f"{formats.moment(note.at, my_zone())[:16]}: no model was asked, or it did not answer.")
            st.text(note.why)
        else:
            by = NAMES.get(note.tier or "rules", "a model")
            st.text(
                f"{formats.moment(note.at, my_zone())[:16]}, by {by}: {note.proposed} proposed, "
                f"{note.rejected} left out as not in the form asked for."
            )
        st.button("Look now", key="extract-now", on_click=_look)


def _look() -> None:
    note = mind.attempt("The weekly look", lambda _: core().companion.extraction.now())
    if note is None:
        return
    if note.why:
        outcome.say("note", f"Nothing was learned. {note.why}")
    else:
        outcome.say(
            "done", f"{formats.plural(note.proposed, 'fact')} proposed, to be decided on Workbench or Insights."
        )


def _forget(learned: list[RuleView]) -> None:
    def each(actor: Actor) -> int:
        return sum(mind.mind().feedback.reset(actor, view.rule.id) for view in learned)

    done = mind.attempt("Learning", each)
    if done is not None:
        outcome.say("done", f"What {formats.plural(done, 'rule')} had learned is forgotten.")
