"""Learning: each rule with what people did with its nudges, what that changed, and the way back."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.companion.contract import At, Every, Rule
from core.companion.reflect.pulse.feedback import DAYS, RuleView
from core.companion.reflect.pulse.learning import ENOUGH, action_rate
from core.companion.reflect.pulse.slots import time_name
from pages._shared import formats
from pages._shared.companion import mind
from pages._shared.feedback import empty
from pages._shared.layout import Figure, figures
from pages._shared.operations import outcome
from pages._shared.resources import core

WEEKDAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


def show(views: Sequence[RuleView]) -> None:
    """Rules with outcomes first, then by part of the product."""
    if not views:
        empty("No rule is there", "Rules come with the parts of the product.")
        return
    total, acted = sum(view.total for view in views), sum(view.acted for view in views)
    rate = action_rate(acted, total)
    figures(
        Figure("Answers", f"{total:,}", f"Outcomes of the last {DAYS} days, those that expired included."),
        Figure("Acted on", "–" if rate is None else f"{rate:.0%}", f"Said from {ENOUGH} outcomes on."),
        Figure("Changed", str(sum(changed(view) for view in views)), "Rules that answers have moved or made quieter."),
    )
    st.caption(
        "A slot that is acted on in under 20 % of at least five answers comes an hour later, by three at most; a rule "
        "acted on in under 10 % of at least ten becomes one step less urgent and speaks once a day at most. Rules of "
        "safety are left as they are."
    )
    if not total:
        st.text("No nudge has an outcome yet: answers, and nudges that run out, will be counted here.")
    labels = {module.name: module.label for module in core().companion.modules}
    for view in sorted(views, key=lambda view: (-view.total, view.rule.module, view.rule.id)):
        with st.container(border=True, gap="xsmall", key=f"rule-{view.rule.id}"):
            _card(view, labels)


def _card(view: RuleView, labels: dict[str, str]) -> None:
    rule, state = view.rule, view.state
    left, right = st.columns([4, 2], vertical_alignment="center")
    with left:
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown(f"**{rule.name}**")
            st.badge(labels.get(rule.module, rule.module), color="gray")
            if not rule.learnable:
                st.badge("not learned", color="blue", help="A rule of safety: answers never move or mute it.")
            if not state.enabled:
                st.badge("off", color="gray")
        st.caption(rule.description, help=when(rule))
        for words in lessons(view):
            st.text(words)
    with right:
        rate = action_rate(view.acted, view.total)
        known = f"{view.acted} of {view.total} acted on" if view.total else "no answer yet"
        st.text(known if rate is None else f"{known}, {rate:.0%}")
        with st.container(horizontal=True, gap="small"):
            words = "Switch off" if state.enabled else "Switch on"
            st.button(words, key=f"rule-switch-{rule.id}", type="tertiary", on_click=_switch, args=(view,))
            if rule.learnable and (view.total or changed(view)):
                st.button("Reset", key=f"rule-reset-{rule.id}", type="tertiary", on_click=_reset, args=(view,))


def changed(view: RuleView) -> bool:
    return bool(view.state.hour_shift) or view.state.demoted


def lessons(view: RuleView) -> list[str]:
    """What answers changed, in words."""
    said = [
        f"At {name} it was seldom acted on: it comes {formats.plural(moved, 'hour')} later."
        for name, moved in sorted(view.state.hour_shift.items())
    ]
    if view.state.demoted:
        said.append("Hardly ever acted on: one step less urgent, and once a day at most.")
    return said


def when(rule: Rule) -> str:
    trigger = rule.trigger
    if isinstance(trigger, At):
        days = "Daily" if trigger.weekday is None else WEEKDAYS[trigger.weekday]
        return f"{days} at {', '.join(time_name(*at) for at in trigger.times)}."
    if isinstance(trigger, Every):
        return f"Every {formats.plural(trigger.minutes, 'minute')}."
    return f"When this happens: {', '.join(formats.event(type).lower() for type in trigger.types)}."


def _switch(view: RuleView) -> None:
    wanted = not view.state.enabled
    done = mind.attempt(view.rule.name, lambda actor: mind.mind().feedback.enable(actor, view.rule.id, wanted))
    if done is not None:
        outcome.say("done" if done else "note", f"{view.rule.name}: switched {'on' if wanted else 'off'}.")


def _reset(view: RuleView) -> None:
    done = mind.attempt(view.rule.name, lambda actor: mind.mind().feedback.reset(actor, view.rule.id))
    if done is not None:
        outcome.say("done", f"{view.rule.name}: what was learned is forgotten, {view.total} answers count no more.")
