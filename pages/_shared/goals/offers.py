"""Goals with one click: what the modules offer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.goals.templates import Offer, offers
from pages._shared.companion import mind
from pages._shared.goals.cards import figure
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.resources import core

SIGNS = {"gte": "at least", "lte": "at most", "eq": "exactly"}


@only("change_goals")
def show(goals: Sequence[Goal]) -> None:
    """By module; one that is active already cannot be pressed."""
    found = offers(mind.mind().goals.templates, goals)
    with panel("Templates", "One click makes the goal; what happened in its period so far counts."):
        if not found:
            st.text("No part of the product offers a goal.")
            return
        names = {module.name: module.label for module in core().companion.modules}
        ordered = sorted(found, key=lambda offer: list(names).index(offer.template.module) if names else 0)
        for module, group in groupby(ordered, key=lambda offer: offer.template.module):
            with st.container(horizontal=True, gap="small", vertical_alignment="center"):
                st.caption(names.get(module, module), width=90)
                for offer in group:
                    _button(offer)


def _button(offer: Offer) -> None:
    template = offer.template
    target = template.target
    st.button(
        template.title,
        key=f"goal-template-{template.id}",
        disabled=offer.active,
        icon=":material/check:" if offer.active else ":material/add:",
        help="Active already."
        if offer.active
        else f"{SIGNS[target.comparison].capitalize()} {figure(target.value)} a {target.period}.",
        on_click=_add,
        args=(template.id, template.title),
    )


def _add(template_id: str, title: str) -> None:
    done = mind.attempt(title, lambda actor: mind.mind().goals.add(actor, template_id))
    if done is not None:
        words = "there is an active goal of this title." if done.outcome == "duplicate" else "made."
        outcome.say("note" if done.outcome == "duplicate" else "done", f"{title}: {words}")
