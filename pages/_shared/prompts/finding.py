"""Recorded searches: found by request, dialog, chunk or outcome; a click opens one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import streamlit as st

from core.retrievals.record import Retrieval
from core.retrievals.store import Totals
from pages._shared import address, formats, layout, reads, session, tables, veil
from pages._shared.examples import curl
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.literal import words
from pages._shared.prompts import reading, rebuilt
from pages._shared.resources import settings
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

OUTCOMES = {"any": "all", "empty": "nothing found", "fallback": "by words", "reported": "reported as wrong"}
COLUMNS = (
    Column("at", "Asked", "when", width=130),
    Column("query", "Query", width=290),
    Column("ru_id", "RU", width=70),
    Column("tu_id", "TU", width=65),
    Column("place", "Place", "count", width=60, help="Where the chunk stood in this search."),
    Column("results", "Chunks", "count", width=65),
    Column("top_score", "Best score", "score", width=85),
    Column("tokens", "~Tokens", "count", width=75, help="Estimate for the prompt block: characters / 4."),
    Column("weights", "Weights", width=70, help="Version of the profile, or `own` where the request brought boosts."),
    Column("remark", "Remark", width=110),
    Column("ms", "Time (ms)", "count", width=80),
    Column("key", "Dialog", width=100),
    Column("request_id", "Request"),
)
FIELDS = (
    *("id", "at", "request_id", "scope", "dialog_key", "ru_id", "tu_id", "query", "results", "top_score", "tokens"),
    *("model", "fallback", "weights", "ms", "reports"),
)
SEARCH = (
    '{"ruId": "123", "tuId": "456", "query": "serious relationship", '
    '"requestId": "6f1c2a7e-0000-4000-8000-000000000001"}'
)


def show(head: Head) -> None:
    request_id, chunk_id = _filters()
    dialog = reading.only_dialog()
    only = dialog.dialog_key if dialog else None
    outcome = address.given("found")
    outcome = outcome if outcome in OUTCOMES and outcome != "any" else None
    page = session.page_number("records")
    read = reading.listed(only, request_id or None, chunk_id, outcome, page)
    pages = max(1, -(-read.value.total // reads.PAGE))
    if page > pages:
        page, st.session_state["records"] = pages, pages
        read = reading.listed(only, request_id or None, chunk_id, outcome, page)
    head.as_of(read.at)
    stale(read)
    totals = reading.totals(only).value
    figures(totals)
    if request_id and not read.value.total:
        rebuilt.show(request_id)
        return
    with panel("Recorded searches", _says(request_id, chunk_id, read.value.total, totals)):
        if not read.value.rows:
            _nothing(totals)
            return
        rows = [row_of(record) for record in read.value.rows]
        shown = [c for c in COLUMNS if c.field != "place" or chunk_id]
        key = f"records-{page}-{read.value.rows[0].id}-{read.value.total}"
        picked = tables.show(rows, shown, key=key, zone=my_zone_name(), select=True, height="content")
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            if pages > 1:
                st.pagination(pages, key="records", bind="query-params", width=280)
            st.caption(formats.plural(read.value.total, "search", "searches"), width="content")
            tables.downloads(rows, FIELDS, name="retrievals", key="records-file")
    if picked is not None:
        reading.choose(read.value.rows[picked].id)
        st.rerun()


def figures(totals: Totals) -> None:
    zone, now = my_zone(), datetime.now(UTC)
    first = formats.parse(totals.first_at)
    layout.figures(
        Figure("Recorded", formats.count(totals.records), beneath=f"kept for {formats.plural(totals.days, 'day')}"),
        Figure("Nothing found", formats.count(totals.empty), beneath=_share(totals.empty, totals.records)),
        Figure("By words", formats.count(totals.fallback), beneath=_share(totals.fallback, totals.records)),
        Figure("Reported as wrong", formats.count(totals.reported)),
        Figure("Since", formats.ago(first, now), formats.moment(first, zone)),
    )


def row_of(record: Retrieval) -> dict[str, Any]:
    """A record as a row of the list."""
    remarks = ["all dialogs"] * (record.scope == "all") + ["by words"] * record.fallback
    remarks += [formats.plural(record.reports, "report")] * bool(record.reports) + ["nothing found"] * (
        not record.results
    )
    return {
        **{name: getattr(record, name) for name in FIELDS if name not in ("query", "weights", "ms")},
        "query": formats.snippet(record.query) if record.query is not None else "(erased)",
        "key": formats.key(record.dialog_key) if record.dialog_key else None,
        "place": record.chunk_rank,
        "weights": version(record),
        "ms": round(record.total_ms),
        "remark": ", ".join(remarks),
        "tokens": record.tokens if record.scope == "dialog" else None,
    }


def version(record: Retrieval) -> str:
    return f"v{record.weights_version}" if record.weights_version is not None else "own"


def _filters() -> tuple[str, str | None]:
    chunk_id = session.remembered(reading.CHUNK, None)
    dialog = session.dialog()
    with st.container(horizontal=True, vertical_alignment="bottom"):
        typed = st.text_input(
            "Request",
            value=reading.request(),
            placeholder="the requestId that was sent",
            width=330,
            key="prompts-typed",
            on_change=_first_page,
        )
        session.remember(reading.REQUEST, (typed or "").strip())
        address.segments("Outcome", OUTCOMES, "found", default="any", on_change=_first_page)
        if dialog:
            kept = session.remembered(reading.ONLY, False)
            mine = st.toggle(f"Only {words(veil.pair(dialog.ru_id, dialog.tu_id))}", value=kept)
            session.remember(reading.ONLY, mine)
    if chunk_id:
        with st.container(horizontal=True, vertical_alignment="center"):
            chunk = reads.chunk(chunk_id)
            st.text(f"Only searches that returned: {formats.snippet(chunk.text) if chunk else 'a chunk that is gone'}")
            st.button("All searches", on_click=session.remember, args=(reading.CHUNK, None), type="tertiary")
    return reading.request(), chunk_id


def _says(request_id: str, chunk_id: str | None, total: int, totals: Totals) -> str:
    if request_id and total > 1:
        return f"{total} searches were made under this one request: each is kept, the newest first."
    if chunk_id:
        return "Place is where the chunk stood in each. Click a row for the whole record."
    return "Newest first. Click a row for what was returned, the prompt block, and what is different today."


def _nothing(totals: Totals) -> None:
    if totals.records:
        empty("No recorded search matches", "None passes these filters within the days that are kept.")
        return
    empty(
        "Nothing is recorded yet",
        "Searches through this API, the Search page and the command line are recorded; those of the existing service "
        "leave no record, but a request of its usage log can be reconstructed: paste its id above.",
        code=curl(settings(), "POST", "/memory/search", SEARCH),
    )


def _share(part: int, whole: int) -> str | None:
    return f"{100 * part / whole:.1f}% of searches" if whole else None


def _first_page() -> None:
    if "records" in st.session_state:
        st.session_state["records"] = 1


def fields(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Every field of these rows, in their order."""
    return list(dict.fromkeys(name for row in rows for name in row))
