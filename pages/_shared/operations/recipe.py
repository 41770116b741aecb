"""The embedding recipe: which one is active, what a switch would take, why it is refused, and its start."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.embedding.recipe import RECIPES
from core.services.recipe import KIND, RecipePreview
from pages._shared import formats, session
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import acting, outcome, reading
from pages._shared.operations.jobs import duration

FORM = "recipe"
WORDS = {
    "plain": "plain: the text of a chunk, as it is stored",
    "speaker": "speaker: messages as “name: text”, everything else as it is stored",
}
SAYS = (
    "What of a chunk is given to the embedding model. It is part of the model's name in every row, and rows of two "
    "recipes are never compared."
)


def show() -> None:
    """The active recipe and the other one, in one panel."""
    active = reading.recipe_active().value
    with panel("Embedding recipe", SAYS):
        target = st.segmented_control(
            "Recipe",
            list(RECIPES),
            default=active,
            required=True,
            format_func=lambda recipe: f"{recipe} (active)" if recipe == active else recipe,
            key="recipe-target",
        )
        st.text(WORDS[target])
        if target != active:
            _switch(reading.recipe(target, bool(session.remembered("reembed.measure", False))).value)


def _switch(found: RecipePreview) -> None:
    _figures(found)
    if found.refused:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("refused", color="red")
            st.text(found.refused)
    st.text(
        f"Searches use {found.from_model} until the last message is done, then {found.to_model}. A switch that is "
        "stopped goes on where it was."
    )
    with st.container(horizontal=True):
        st.button(
            f"Switch to {found.target}",
            key="recipe-start",
            type="primary",
            icon=":material/swap_horiz:",
            disabled=found.running is not None or found.refused is not None,
            on_click=_start,
            args=(found.target,),
            help=_why_not(found),
        )
        if found.minutes is None and found.to_embed and not found.paid:
            st.button(
                "Measure on 16 texts", key="recipe-measure", on_click=session.remember, args=("reembed.measure", True)
            )


def _figures(found: RecipePreview) -> None:
    cost = "no price" if found.paid else "free"
    if found.cost_usd is not None:
        cost = f"~{found.cost_usd:.4g} USD"
    waiting = f" {found.waiting:,} have theirs from a switch that was stopped." if found.waiting else ""
    figures(
        Figure(
            "Messages to embed",
            formats.count(found.to_embed),
            f"Of {found.chunks:,} chunks; the others keep their vector.{waiting}",
        ),
        Figure("Tokens", f"~{formats.short(found.tokens)}", "Estimated, four characters a token."),
        Figure(
            "Time",
            f"~{duration(found.minutes * 60)}" if found.minutes is not None else "not measured",
            f"At {found.rate_per_s:,.1f} texts a second, as measured." if found.rate_per_s else None,
        ),
        Figure("Cost", cost, "A price is set on the Usage page." if found.paid else "The model runs on this machine."),
    )


def _why_not(found: RecipePreview) -> str | None:
    if found.running is None:
        return None
    return "It runs already." if found.running.kind == KIND else "Chunks are embedded again at the moment."


def _start(target: str) -> None:
    form = outcome.form_id(FORM)
    job = outcome.attempt("Switch recipe", partial(acting.start_recipe, target, form=form))
    if job is not None:
        outcome.say("started", "The switch was started. It goes on if this tab is closed, and can be stopped.")
        outcome.new_form(FORM)
