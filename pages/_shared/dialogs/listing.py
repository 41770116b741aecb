"""The list of dialogs: find, sort, page, open. What is typed stays out of the address; sort and page are in it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.memory.dialogs import DialogRow
from core.memory.sources import SOURCES
from pages._shared import address, demo, formats, reads, session, tables, veil
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.overview import first_steps
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

LOOK_IN = {"ids": "ids and keys", "texts": "text of chunks"}
SORT_NAMES = {
    "last_at": "last activity",
    "chunks": "number of chunks",
    "updated_at": "last change",
    "ru_id": "RU",
    "tu_id": "TU",
}
ORDER_NAMES = {
    "chunks": {"desc": "largest first", "asc": "smallest first"},
    "ru_id": {"desc": "descending", "asc": "ascending"},
    "tu_id": {"desc": "descending", "asc": "ascending"},
}
BY_TIME = {"desc": "newest first", "asc": "oldest first"}
COLUMNS = (
    Column("ru_id", "RU", pinned=True),
    Column("tu_id", "TU"),
    Column("last_at", "Last activity", "when"),
    Column("chunks", "Chunks", "count"),
    *(Column(source, source.capitalize(), "count") for source in SOURCES),
    Column(
        "remark",
        "Remark",
        width=80,
        help="two keys: the pair has chunks under the other order too; "
        "unknown id: the key was made without an id, so different people may share it.",
    ),
    Column("key", "Key", width=85, help="The first characters; the whole key stands in the dialog."),
    Column("order", "Made by", width=75, help="tips: RU then TU; generic: TU then RU; custom: given by the caller."),
    Column("updated_at", "Last change", "when"),
)
HITS = Column("hits", "Hits", "count", help="Chunks that hold the text.")
FIELDS = (
    "ru_id",
    "tu_id",
    "favorite_id",
    "dialog_key",
    "order",
    "chunks",
    *SOURCES,
    "first_at",
    "last_at",
    "updated_at",
)


def show(head: Head) -> None:
    search, in_texts, sort, descending = _filters()
    page = session.page_number("page")
    read = reads.dialogs(search, in_texts, sort, descending, page)
    pages = max(1, -(-read.value.total // reads.PAGE))
    if page > pages:  # a link from before rows went
        page = pages
        read = reads.dialogs(search, in_texts, sort, descending, page)
    head.as_of(read.at)
    stale(read)
    if not read.value.total:
        _nothing(search, in_texts)
        return
    rows = [row_of(r) for r in read.value.rows]
    by_hits = in_texts and bool(search.strip())
    columns = (*COLUMNS[:2], HITS, *COLUMNS[2:]) if by_hits else COLUMNS
    first = (page - 1) * reads.PAGE + 1
    st.caption(
        f"{first} to {first + len(rows) - 1} of {formats.plural(read.value.total, 'dialog')}. "
        f"{'Most hits first. ' if by_hits else ''}Click a row to open the dialog."
    )
    chosen = tables.show(
        rows,
        columns,
        key=f"dialogs-{session.remembered('list-turn', 0)}",
        zone=my_zone_name(),
        select=True,
        height="content",
    )
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if pages > 1:
            if "page" in st.session_state and st.session_state["page"] > pages:
                st.session_state["page"] = pages
            st.pagination(pages, key="page", bind="query-params", width=280)
        tables.downloads(
            rows,
            [c.field for c in columns if c.field not in ("key", "remark")] + ["dialog_key"],
            name="dialogs",
            key="dialogs-file",
        )
    if chosen is not None:
        row = read.value.rows[chosen]
        session.remember("list-turn", session.remembered("list-turn", 0) + 1)  # the list comes back with nothing chosen
        session.choose_dialog(session.DialogChoice(row.dialog_key, row.ru_id, row.tu_id))
        st.rerun()


def row_of(row: DialogRow) -> dict[str, Any]:
    """A dialog as the list shows it."""
    return {
        "ru_id": row.ru_id,
        "tu_id": row.tu_id,
        "favorite_id": row.favorite_id,
        "dialog_key": row.dialog_key,
        "key": formats.key(row.dialog_key),
        "order": row.order,
        "chunks": row.chunks,
        "hits": row.hits,
        **{source: row.sources.get(source) for source in SOURCES},
        "first_at": row.first_at,
        "last_at": row.last_at,
        "updated_at": row.updated_at,
        "remark": remark(row),
    }


def remark(row: DialogRow) -> str:
    if row.order == "unknown":
        return "fault: unknown id"
    return "two keys" if row.also_under else ""


def _filters() -> tuple[str, bool, str, bool]:
    with st.container(horizontal=True, vertical_alignment="top"):
        search = st.text_input(
            "Find",
            value=session.remembered("find", ""),
            placeholder="part of a text" if address.given("in") == "texts" else "RU, TU, favourite or start of a key",
            type="search",
            width=320,
            key="find",
            on_change=_first_page,
        )
        where = address.segments("Look in", LOOK_IN, "in", default="ids", on_change=_first_page)
        by_hits = where == "texts" and bool(search)
        sort = address.select(
            "Sort by", SORT_NAMES, "sort", default="last_at", width=180, on_change=_first_page, disabled=by_hits
        )
        if by_hits:
            order = "desc"
        else:
            words = ORDER_NAMES.get(sort, BY_TIME)
            order = address.segments("Order", words, "order", default="desc", on_change=_first_page)
    session.remember("find", search or "")
    return search or "", where == "texts", sort, order == "desc"


def _first_page() -> None:
    if "page" in st.session_state:
        st.session_state["page"] = 1


def _nothing(search: str, in_texts: bool) -> None:
    if not search.strip():
        if not demo.arriving(reads.overview().value.demo):
            first_steps()
    elif in_texts:
        empty(
            "No chunk holds this text",
            "Matching is by the letters as they are, in any case; the three apostrophes count as one. "
            "The Search page finds by meaning.",
        )
    else:
        empty("No dialog has this id or key", "Ids match by any part of them, keys by their beginning.")


def option(row: DialogRow) -> str:
    """A dialog as one line of a list of choices."""
    last = formats.parse(row.last_at)
    day = f"{last.astimezone(my_zone()):%Y-%m-%d}" if last else "undated"
    size, short = formats.plural(row.chunks, "chunk"), formats.key(row.dialog_key)
    return f"{veil.pair(row.ru_id, row.tu_id)} · {size} · {day} · {short}"
