"""Re-embed: chunks of another model than the one that searches, what it would take, the start of the job; and the
recipe, whose switch is such a job too."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.services.reembed import ReembedPreview
from pages._shared import formats, session, tables, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import acting, outcome, reading, recipe
from pages._shared.operations.jobs import duration
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

FORM = "reembed"
COLUMNS = (
    Column("model", "Embedded by"),
    Column("chunks", "Chunks", "count"),
    Column("dialogs", "Dialogs", "count"),
    Column("characters", "Characters", "count"),
    Column("recent", "Written in 30 days", "count"),
    Column("newest", "Newest", "when"),
)


def show(head: Head) -> None:
    _others(head)
    with boundary("The embedding recipe"):
        recipe.show()


def _others(head: Head) -> None:
    dialog_key = _scope()
    measured = bool(session.remembered("reembed.measure", False))
    read = reading.reembed(dialog_key, measured)
    head.as_of(read.at)
    stale(read)
    found = read.value
    if not found.chunks:
        empty("Nothing to embed again", f"No chunk here is of another model than {found.model}, the one that searches.")
        return
    _figures(found)
    rows = [vars(row) for row in found.models]
    says = f"A search compares chunks of {found.model} only. These are not searched until they are embedded again."
    with panel("Chunks of other models (rows)", says):
        tables.show(rows, COLUMNS, key="other-models", zone=my_zone_name(), height="content")
        tables.downloads(rows, [c.field for c in COLUMNS], name="other-models", key="other-models-file")
    _decide(found, dialog_key)


def _scope() -> str | None:
    chosen = session.dialog()
    if chosen is None:
        return None
    words = {"all": "All dialogs", "one": f"The open dialog ({veil.pair(chosen.ru_id, chosen.tu_id)})"}
    scope = st.segmented_control(
        "Scope", list(words), default="all", required=True, format_func=words.__getitem__, key="reembed-scope"
    )
    return chosen.dialog_key if scope == "one" else None


def _figures(found: ReembedPreview) -> None:
    cost = "no price" if found.paid else "free"
    if found.cost_usd is not None:
        cost = f"~{found.cost_usd:.4g} USD"
    figures(
        Figure("Chunks", formats.count(found.chunks)),
        Figure(
            "Tokens",
            f"~{formats.short(found.tokens)}",
            f"Estimated from {found.characters:,} characters, four a token.",
        ),
        Figure(
            "Time",
            f"~{duration(found.minutes * 60)}" if found.minutes is not None else "not measured",
            f"At {found.rate_per_s:,.1f} chunks a second, as measured." if found.rate_per_s else None,
        ),
        Figure("Cost", cost, "A price is set on the Usage page." if found.paid else "The model runs on this machine."),
    )


def _decide(found: ReembedPreview, dialog_key: str | None) -> None:
    agreed = True
    if found.confirm:
        with st.container(border=True):
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge("another writer", color="orange")
                st.text(found.confirm)
            agreed = st.checkbox("Embed them again all the same", key="reembed-agreed")
    with st.container(horizontal=True):
        st.button(
            f"Embed {formats.plural(found.chunks, 'chunk')} again",
            key="reembed-start",
            type="primary",
            icon=":material/play_arrow:",
            disabled=found.running is not None or not agreed,
            on_click=_start,
            args=(dialog_key, agreed),
            help="It runs already." if found.running else None,
        )
        if found.minutes is None and not found.paid:
            st.button(
                "Measure on 16 texts", key="reembed-measure", on_click=session.remember, args=("reembed.measure", True)
            )


def _start(dialog_key: str | None, confirmed: bool) -> None:
    form = outcome.form_id(FORM)
    job = outcome.attempt("Re-embed", partial(acting.start_reembed, dialog_key, confirmed=confirmed, form=form))
    if job is not None:
        outcome.say("started", "Re-embedding was started. It goes on if this tab is closed, and can be stopped.")
        outcome.new_form(FORM)
