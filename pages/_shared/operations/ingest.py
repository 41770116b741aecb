"""Ingest: choose files, paste, or take a snapshot; look at what would be written; start."""

from __future__ import annotations

import streamlit as st

from core.memory.sources import MESSAGES_PER_INGEST
from core.services.intake import Staged
from pages._shared import formats, session
from pages._shared.feedback import boundary, empty
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import preview, reading, staging

ORIGINS = {"files": "Files", "paste": "Pasted JSON", "snapshot": "A snapshot"}
TYPES = ["json", "jsonl", "ndjson", "zip"]
LATEST, WINDOWS = "latest", "windows"


def show(head: Head) -> None:
    with panel("Dialogs to ingest", "Nothing is written before you have seen what would be, and pressed Ingest."):
        where = st.segmented_control(
            "From", list(ORIGINS), default="files", required=True, format_func=ORIGINS.__getitem__, key="origin"
        )
        {"files": _files, "paste": _paste, "snapshot": _snapshot}[str(where)]()
    held = staging.staged()
    if held is None:
        head.as_of(reading.running().at)
        return
    figures(
        Figure("Dialogs", formats.count(held.dialogs)),
        Figure("Not readable", formats.count(held.unread), "Files, lines or members that hold no dialog."),
        Figure(f"With more than {MESSAGES_PER_INGEST} messages", formats.count(held.long)),
        Figure("Messages beyond the limit", formats.count(held.older)),
    )
    for problem in held.problems:
        st.text(f"{problem.field}: {problem.message}")
    if held.unread > len(held.problems):
        st.caption(f"The first {len(held.problems)} of {held.unread:,}; the job's result has them all.")
    windows = _windows(held)
    with boundary("The preview"):
        preview.show(held, windows=windows, head=head)
    with boundary("The matches"):
        preview.matches(staging.origin())
    _decide(held, windows)


def _files() -> None:
    key = f"upload-{staging.turn()}"
    st.file_uploader(
        "Files",
        type=TYPES,
        accept_multiple_files=True,
        key=key,
        on_change=staging.files_chosen,
        args=(key,),
        help="JSON, JSON lines, or a ZIP of those, 20 MB each. They lie in the data folder until the job has ended.",
    )


def _paste() -> None:
    key = f"paste-{staging.turn()}"
    with st.form(f"paste-form-{staging.turn()}", border=False):
        st.text_area("JSON of one dialog, or JSON lines", key=key, height=180)
        st.form_submit_button("Read it", on_click=staging.text_pasted, args=(key,))


def _snapshot() -> None:
    chosen = session.dialog()
    key = st.text_input(
        "Dialog key", value=chosen.dialog_key if chosen else "", key="snapshot-key", help="Open a dialog to fill it in."
    ).strip()
    if not key:
        st.caption("Open a dialog on the Dialogs page, or give its key.")
        return
    days = reading.snapshot_days(key).value
    if not days:
        empty("No snapshots of this dialog", "They are kept for 14 days. Another key may hold them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        day = st.selectbox("Day", days, key="snapshot-day", width=200)
        st.button("Take this day", key="snapshot-take", on_click=staging.snapshot_chosen, args=(key, day))


def _windows(held: Staged) -> bool:
    """The choice that keeps messages from being lost; asked only where there are too many."""
    if not held.long:
        return False
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("would be lost", color="orange")
            dialogs, earlier = formats.plural(held.long, "dialog"), formats.plural(held.older, "earlier message")
            st.text(
                f"More than {MESSAGES_PER_INGEST} messages in {dialogs}. One ingest keeps the latest "
                f"{MESSAGES_PER_INGEST}: {earlier} would not be stored."
            )
        words = {
            WINDOWS: f"All messages, in windows of {MESSAGES_PER_INGEST}, oldest first ({held.windows:,} ingests)",
            LATEST: f"Only the latest {MESSAGES_PER_INGEST} of each, as the existing service does",
        }
        choice = st.radio(
            "Messages", list(words), format_func=words.__getitem__, key=f"windows-{held.sha[:8]}", horizontal=False
        )
    return choice == WINDOWS


def _decide(held: Staged, windows: bool) -> None:
    capture = st.checkbox(
        "Write snapshots of today as well",
        key="capture",
        help="Rows that upstream wrote are never replaced, and a snapshot that fails does not fail the ingest.",
    )
    with st.container(horizontal=True):
        st.button(
            f"Ingest {formats.plural(held.dialogs, 'dialog')}",
            key="ingest-start",
            type="primary",
            icon=":material/play_arrow:",
            on_click=staging.start,
            args=(windows, capture),
        )
        st.button("Discard", key="ingest-discard", on_click=staging.discard)
