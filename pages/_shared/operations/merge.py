"""Merge: pairs with rows under both keys, what a merge would meet, the merge itself, and its undo for 14 days."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from core.memory.merges import MergePreview, MergeRow
from pages._shared import formats, reads, session, tables, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.operations import mending, outcome, typed
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

PICKED = "desk.merge.pair"
CLICKED = "desk.merge.clicked"  # a row that stays ticked is one decision: it does not undo a swap
TURN = "merge.turn"  # grows with every merge: nothing is ticked then
SIDE = (
    Column("what", "What", width=200),
    Column("kept", "Stays", width=280),
    Column("dropped", "Goes", width=280),
)
PAST = (
    Column("at", "When", "when"),
    Column("pair", "Pair"),
    Column("mode", "Mode"),
    Column("rows", "Rows", "count"),
    Column("state", "State", width=240),
)


def show(head: Head) -> None:
    read = reads.ambiguous_pairs(session.page_number("pairs"))
    head.as_of(read.at)
    stale(read)
    if read.value.total:
        with panel("Pairs with rows under two keys", "A search in one dialog does not see the other. Click one."):
            _pairs(read.value.rows, read.value.total)
    else:
        empty("No pair stands under two keys", "Rows that are written under a merged key appear here again.")
    picked = st.session_state.get(PICKED)
    if picked:
        _merge(*picked)
    _past()


def _pairs(pairs: Any, total: int) -> None:
    rows = [
        {
            "pair": veil.pair(pair.ru_id, pair.tu_id),
            "keys": ", ".join(f"{k['order']}: {k['chunks']:,}" for k in pair.keys),
            "last": max((k["last_at"] or "" for k in pair.keys), default="") or None,
        }
        for pair in pairs
    ]
    columns = (Column("pair", "Pair"), Column("keys", "Chunks by key (rows)"), Column("last", "Last activity", "when"))
    key = f"pairs-table-{session.remembered(TURN, 0)}"
    chosen = tables.show(rows, columns, key=key, zone=my_zone_name(), select=True, height="content")
    if total > reads.PAGE:
        st.pagination(-(-total // reads.PAGE), key="pairs", bind="query-params", width=280)
    clicked = None
    if chosen is not None:
        keys = sorted(pairs[chosen].keys, key=lambda k: (k["order"] != "tips", -k["chunks"]))
        clicked = (keys[0]["dialog_key"], keys[1]["dialog_key"])
    if clicked and clicked != st.session_state.get(CLICKED):
        st.session_state[PICKED] = clicked
    st.session_state[CLICKED] = clicked


def _merge(kept: str, dropped: str) -> None:
    with panel("Merge", "Everything under the key that goes gets the key that stays, in one transaction."):
        if st.button("Swap the two", key="merge-swap", icon=":material/swap_horiz:"):
            st.session_state[PICKED] = kept, dropped = dropped, kept
        with boundary("The preview of the merge"):
            found = mending.merge_preview(kept, dropped).value
            _both(found)
            if found.different_pairs:
                st.badge("different pairs", color="red")
                st.text("What is known of these keys says that they belong to two pairs. They cannot be merged.")
            elif found.rows:
                _decide(found)


def _both(found: MergePreview) -> None:
    zone = my_zone()
    moments = ("last_write_at", "last_ingest_at", "last_read_at", "last_usage_at")
    sides = {"kept": found.kept, "dropped": found.dropped}
    rows: list[dict[str, Any]] = [
        {"what": "key", **{name: side.dialog_key for name, side in sides.items()}},
        {"what": "order", **{name: side.order for name, side in sides.items()}},
        {"what": "chunks", **{name: formats.count(side.chunks) for name, side in sides.items()}},
        {"what": "by source", **{name: _counts(side.sources) for name, side in sides.items()}},
        *(
            {
                "what": what.removesuffix("_at").replace("_", " "),
                **{name: formats.moment(formats.parse(getattr(side, what)), zone) for name, side in sides.items()},
            }
            for what in moments
        ),
    ]
    tables.show(rows, SIDE, key="merge-sides", zone=my_zone_name(), height="content")
    if found.other_tables:
        st.text(f"Also under the key that goes: {_counts(found.other_tables)}.")
    st.text(
        f"{formats.plural(found.clashes, 'chunk')} under both: the newer row stays"
        f" ({found.newer_under_dropped:,} times that of the key that goes)."
    )
    if found.tombstones_without_text:
        text = formats.plural(found.tombstones_without_text, "deleted chunk")
        st.text(f"{text} without a text any more: the next ingest finds them, and leaves them out, all the same.")


def _decide(found: MergePreview) -> None:
    if found.both_alive:
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.badge("both alive", color="orange")
            st.text(
                "Both keys were written within 14 days: two writers use one each. Whoever reads by the key that goes "
                "will find nothing there. A copy leaves that key as it is and gives the other its chunks too."
            )
    mode = st.segmented_control(
        "How", ["move", "copy"], default="copy" if found.both_alive else "move", required=True, key="merge-mode"
    )
    rows = found.rows if mode == "move" else found.dropped.chunks
    label = f"{'Move' if mode == 'move' else 'Copy'} {formats.plural(rows, 'row')}"
    if typed.button(label, "merge", key="merge"):
        _run(found, mode)


def _run(found: MergePreview, mode: Any) -> None:
    kept, dropped = found.kept.dialog_key, found.dropped.dialog_key
    done = outcome.attempt("Merge", partial(mending.merge, kept, dropped, mode))
    if done is not None:
        moved = done.count("moved") + done.count("copied")
        outcome.say(
            "done",
            f"{formats.plural(moved, 'row')} {'moved' if mode == 'move' else 'copied'}, {done.count('lost'):,} gave "
            "way to a newer one. It can be undone for 14 days.",
        )
        st.session_state.pop(PICKED, None)
        session.remember(TURN, session.remembered(TURN, 0) + 1)
        typed.done("merge")
    st.rerun()


def _past() -> None:
    page = mending.merges().value
    if not page.rows:
        return
    with panel("Merges", "Newest first. Click one to undo it."):
        rows = [
            {
                "at": row.merged_at,
                "pair": veil.pair(row.ru_id, row.tu_id),
                "mode": row.mode,
                "rows": sum(n for table in row.counts.values() for what, n in table.items() if what != "lost"),
                "state": _state(row),
            }
            for row in page.rows
        ]
        key = f"merges-{page.rows[0].id}"  # another list: what was ticked by its place is another merge now
        chosen = tables.show(rows, PAST, key=key, zone=my_zone_name(), select=True, height="content")
        if chosen is not None and page.rows[chosen].undone_at is None:
            row = page.rows[chosen]
            until = formats.moment(formats.parse(row.undo_until), my_zone())
            st.text(f"It can be undone until {until}. Rows that came later stay where they are.")
            st.button("Undo this merge", key="merge-undo", icon=":material/undo:", on_click=_undo, args=(row.id,))


def _undo(merge_id: str) -> None:
    rows = outcome.attempt("Undo", partial(mending.undo_merge, merge_id))
    if rows is not None:
        outcome.say("done", f"The merge was undone: {formats.plural(rows, 'row')} put back or taken away again.")


def _state(row: MergeRow) -> str:
    if row.undone_at:
        return "undone"
    return f"written again: {row.chunks_under_dropped:,} chunks" if row.written_again else "done"


def _counts(counts: Any) -> str:
    return ", ".join(f"{name} {number:,}" for name, number in counts.items()) or "–"
