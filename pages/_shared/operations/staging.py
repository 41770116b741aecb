"""What somebody chose to ingest: read once, when it is chosen, kept by its hash until it is started or discarded."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.services.intake import Staged
from pages._shared import formats, session
from pages._shared.operations import acting, outcome

STAGED = "intake.staged"
ORIGIN = "intake.origin"
FORM = "ingest"


def staged() -> Staged | None:
    """The upload in hand; it survives a change of page."""
    kept = session.remembered(STAGED, None)
    return kept if isinstance(kept, Staged) else None


def origin() -> tuple[str, str] | None:
    """(dialog key, day) where it was made from a snapshot."""
    kept = session.remembered(ORIGIN, None)
    return tuple(kept) if kept else None


def turn() -> int:
    """Grows with every upload that was dealt with: the widgets come back empty."""
    return int(session.remembered("intake.turn", 0))


def files_chosen(key: str) -> None:
    """Callback of the uploader: called when the choice changes, never at a mere rerun."""
    files = st.session_state.get(key) or []
    if not files:
        discard(keep_widgets=True)
        return
    given = [(file.name, file.getvalue()) for file in files]
    _take(outcome.attempt("The upload", partial(acting.stage_files, given)))


def text_pasted(key: str) -> None:
    _take(outcome.attempt("The pasted text", partial(acting.stage_text, st.session_state.get(key) or "")))


def snapshot_chosen(dialog_key: str, day: str) -> None:
    made = outcome.attempt("The snapshot", partial(acting.stage_snapshot, dialog_key, day))
    _take(made)
    if made is not None:
        session.remember(ORIGIN, (dialog_key, day))


def discard(*, keep_widgets: bool = False) -> None:
    held = staged()
    if held is not None:
        outcome.attempt("Discard", partial(acting.discard_upload, held.sha))
    _clear(keep_widgets=keep_widgets)


def start(windows: bool, capture: bool) -> None:
    """Callback of the start button. The key of the form makes a double click one job."""
    held = staged()
    if held is None:
        return
    form = outcome.form_id(FORM)
    job = outcome.attempt("Ingest", lambda: acting.start_ingest(held, windows=windows, capture=capture, form=form))
    if job is not None:
        dialogs = formats.plural(held.dialogs, "dialog")
        outcome.say("started", f"The ingest of {dialogs} was started. It goes on if this tab is closed.")
        _clear(keep_widgets=False)


def _take(made: Staged | None) -> None:
    session.remember(STAGED, made)
    session.remember(ORIGIN, None)
    outcome.new_form(FORM)


def _clear(*, keep_widgets: bool) -> None:
    _take(None)
    if not keep_widgets:
        session.remember("intake.turn", turn() + 1)
