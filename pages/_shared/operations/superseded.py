"""Superseded: chunks that a newer text of the same place replaced; and all that was taken out, to put it back."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.memory.corrections import ExcludedChunk
from pages._shared import formats, reads, session, tables
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import mending, outcome, typed
from pages._shared.parts import only
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("source", "Source", width=95, pinned=True),
    Column("text", "Old text", width=360),
    Column("newer_text", "Newest text", width=360),
    Column("updated_at", "Written", "when"),
    Column("newer_at", "Replaced", "when"),
)
AWAY = (
    Column("kind", "Kind", width=100, pinned=True),
    Column("source", "Source", width=95),
    Column("text", "Text", width=420),
    Column("reason", "Reason", width=120),
    Column("at", "When", "when"),
    Column("keep_until", "Undo until", "when"),
    Column("remark", "Remark", width=160),
)
FIELDS = ("source", "source_id", "text", "newer_text", "updated_at", "newer_at", "dialog_key", "id")


def show(head: Head) -> None:
    page = session.page_number("old")
    read = mending.superseded(None, page)
    head.as_of(read.at)
    stale(read)
    found = read.value
    figures(
        Figure("Superseded", formats.count(found.total), "A newer chunk of the same source and id says otherwise."),
        Figure("Dialogs", formats.count(found.dialogs)),
        *(Figure(source.capitalize(), formats.count(number)) for source, number in found.by_source.items()),
    )
    if found.total:
        with panel("Superseded chunks", "They are still searched, beside the text that replaced them."):
            rows = [{name: getattr(row, name) for name in FIELDS} for row in found.rows]
            tables.show(rows, COLUMNS, key="superseded", zone=my_zone_name(), height="content")
            if found.total > reads.PAGE:
                st.pagination(-(-found.total // reads.PAGE), key="old", bind="query-params", width=280)
            tables.downloads(rows, FIELDS, name="superseded", key="superseded-file")
            st.text("Each is judged again before it goes. All of them can be put back for 14 days.")
            if typed.button(f"Delete {formats.plural(found.total, 'chunk')}", "delete", key="superseded"):
                _run(found.total)
    else:
        empty("No chunk is superseded", "An ingest never deletes: a fact that changes leaves its old row behind.")
    away(None)


@only("corrections")
def away(dialog_key: str | None) -> None:
    """What was taken out, of one dialog or of all; nothing is drawn where there is none."""
    page = mending.excluded(dialog_key).value
    if not page.rows:
        return
    with panel("Taken out", "Excluded chunks stay away until they are put back, others for 14 days. Click one."):
        if page.revived:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge("revived", color="orange")
                st.text(
                    f"{formats.plural(page.revived, 'chunk')} came back: another writer, which knows nothing of this, "
                    "wrote them again. Exclude them once more, or put them back here to end it."
                )
        rows = [
            {
                **{c.field: getattr(row, c.field, None) for c in AWAY},
                "remark": _remark(row),
                "reason": _word(row.reason),
            }
            for row in page.rows
        ]
        key = f"away-{page.total}-{page.rows[0].content_hash[:8]}"  # one put back: the places mean others then
        chosen = tables.show(rows, AWAY, key=key, zone=my_zone_name(), select=True, height="content")
        if chosen is not None:
            row = page.rows[chosen]
            label = "Put it back" if row.id else "Let the next ingest write it again"
            st.button(label, key="away-restore", icon=":material/undo:", on_click=_restore, args=(row,))
        if page.total > len(page.rows):
            st.caption(f"The latest {len(page.rows):,} of {page.total:,}.")


def _run(total: int) -> None:
    done = outcome.attempt("Clean-up", partial(mending.delete_superseded, None, total))
    if done is not None:
        outcome.say("done", f"{formats.plural(done.count, 'superseded chunk')} deleted; 14 days to put them back.")
        typed.done("superseded")
    st.rerun()


def _restore(row: ExcludedChunk) -> None:
    hashes = () if row.id else (row.content_hash,)
    act = partial(mending.restore, [row.id] if row.id else [], row.dialog_key, hashes)
    done = outcome.attempt("Put back", act)
    if done is not None:
        words = "The chunk is back, as it was." if done.restored else "The next ingest may write it again."
        outcome.say("done", "It stood there again already." if done.present else words)


def _remark(row: ExcludedChunk) -> str:
    if row.revived:
        return "revived"
    return "" if row.id else "text gone, hash kept"


def _word(reason: str) -> str:
    return reason.replace("_", " ")
