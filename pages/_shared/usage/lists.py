"""Who used most: dialogs, requests, and the calls of one request."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import streamlit as st

from core.usage.lines import RequestLine
from core.usage.periods import last_days
from core.usage.pricing import plain
from pages._shared import formats, reads, session, tables
from pages._shared.feedback import boundary, empty
from pages._shared.layout import panel
from pages._shared.prompts import reading as prompts
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.usage import drawing, reading, words
from pages._shared.usage.choices import REQUEST, Choice
from pages._shared.zone import my_zone, my_zone_name

RANKED_DAYS = 31  # a month of a million calls in 180 days is ranked in a tenth of a second
DIALOG_COLUMNS = (
    Column("ru_id", "RU"),
    Column("tu_id", "TU"),
    Column("key", "Key"),
    Column("calls", "Calls", "count"),
    Column("total", "Tokens", "count"),
    Column("cost", "Cost (USD)", "amount"),
    Column("last", "Last used", "when", help="Its last call within the range."),
)
REQUEST_COLUMNS = (
    Column("at", "Began", "when"),
    Column("calls", "Calls", "count"),
    Column("total", "Tokens", "count"),
    Column("cost", "Cost (USD)", "amount"),
    Column("key", "Dialog"),
    Column("request_id", "Request"),
    Column("remark", "Remark"),
)
CALL_COLUMNS = (
    Column("after_s", "After (s)", "score", help="Seconds after the first call was logged."),
    Column("phase", "Phase"),
    Column("provider", "Provider"),
    Column("model", "Model"),
    Column("prompt", "Prompt", "count"),
    Column("completion", "Completion", "count"),
    Column("total", "Tokens", "count"),
    Column("cached", "Cached", "count"),
    Column("cost", "Cost (USD)", "amount"),
    Column("remark", "Remark"),
)


def dialogs(choice: Choice) -> None:
    """Dialogs by tokens; a row opens the dialog."""
    with panel("Dialogs by tokens", "Within the range above. Click a row to open the dialog."), boundary("Top dialogs"):
        page = session.page_number("dialogs-page")
        found = reading.dialogs(choice.period, page).value
        rows = [
            {
                "ru_id": d.ru_id,
                "tu_id": d.tu_id,
                "dialog_key": d.dialog_key,
                "key": formats.key(d.dialog_key) if d.dialog_key else "no dialog",
                "calls": d.calls,
                "total": d.total,
                "cost": words.cost(d.cost) if d.cost else None,
                "cost_usd": plain(d.cost.usd) if d.cost and d.cost.known else None,
                "last": d.last_at,
            }
            for d in found.rows
        ]
        chosen = _list(rows, DIALOG_COLUMNS, "dialogs", found.total, ("dialog_key", "cost_usd"))
        if chosen is not None and (key := found.rows[chosen].dialog_key):
            row = found.rows[chosen]
            session.choose_dialog(session.DialogChoice(key, row.ru_id, row.tu_id))
            # {}: without it Streamlit refuses to leave while a choice stands in the address.
            st.switch_page(place("dialogs").path, query_params={})


def requests(choice: Choice) -> None:
    """Requests by tokens, or those of the dialog in hand, the latest first; a row shows its calls."""
    dialog = session.dialog()
    with panel("Requests by tokens", "Within the range above. Click a row for its calls."), boundary("Top requests"):
        only = dialog is not None and st.toggle("Only the dialog in hand, latest first", key="usage-only-dialog")
        page = session.page_number("requests-page")
        period = choice.period
        if not only and period.days > RANKED_DAYS:
            period = last_days(RANKED_DAYS, period.end, my_zone())
            st.caption(f"Of the last {RANKED_DAYS} days of the range: requests are ranked from the rows themselves.")
        found = reading.requests(period, dialog.dialog_key if only and dialog else None, page).value
        rows = [request_row(request) for request in found.rows]
        chosen = _list(rows, REQUEST_COLUMNS, "requests", found.total, ("dialog_key", "cost_usd"))
        if chosen is not None:
            session.remember(REQUEST, found.rows[chosen].request_id)


def request_row(request: RequestLine) -> dict[str, Any]:
    cost, guessed = request.cost, any(call.estimated for call in request.calls)
    return {
        "at": request.calls[0].at,
        "request_id": request.request_id,
        "dialog_key": request.dialog_key,
        "key": formats.key(request.dialog_key) if request.dialog_key else None,
        "calls": len(request.calls),
        "total": request.tokens.total,
        "cost": words.cost(cost),
        "cost_usd": plain(cost.usd) if cost.known else None,
        "remark": "~ estimated" if guessed else "",
    }


def one_request() -> None:
    """The calls of the request that was clicked or typed, as a waterfall and as a table."""
    with panel("One request", "Its calls in the order in which they were logged; tokens add up from left to right."):
        typed = st.text_input("Request id", value=session.remembered(REQUEST, ""), placeholder="a UUID", width=360)
        session.remember(REQUEST, typed.strip())
        if not typed.strip():
            st.caption("Click a request above, or paste an id.")
            return
        try:
            request_id = str(UUID(typed.strip()))
        except ValueError:
            st.text("This is no UUID.")
            return
        with boundary("The request"):
            found = reading.request(request_id).value
            if found is None:
                empty("No call has this request id", "Rows that wait on disk appear once they are written.")
                return
            _calls(found)


def _calls(request: RequestLine) -> None:
    first = request.calls[0].at
    twice = sum(call.alike > 1 for call in request.calls)
    facts = f"{formats.moment(first, my_zone())}, {formats.plural(len(request.calls), 'call')}, "
    st.text(
        f"{facts}{request.tokens.total:,} tokens, {words.cost(request.cost)}",
        help=words.cost_help(request.cost).replace("$", "\\$"),
    )
    if twice:
        st.text(f"{twice} calls are equal in everything, their moment included: possibly one call logged twice.")
    st.plotly_chart(
        drawing.waterfall(request.calls), key="waterfall", config={"displayModeBar": False, "typesetMath": False}
    )
    rows = [
        {
            "after_s": (call.at - first).total_seconds(),
            "at": call.at,
            "phase": call.phase,
            "provider": call.provider,
            "model": call.model,
            "prompt": call.tokens.prompt,
            "completion": call.tokens.completion,
            "total": call.tokens.total,
            "cached": call.tokens.cached,
            "unattributed": call.tokens.unattributed,
            "cost": words.cost(call.cost),
            "cost_usd": plain(call.cost.usd) if call.cost.known else None,
            "remark": "possible duplicate" if call.alike > 1 else "~ estimated" if call.estimated else "",
        }
        for call in request.calls
    ]
    if st.button("What it retrieved", icon=place("prompts").icon, type="tertiary"):
        prompts.ask_for_request(request.request_id)
        st.switch_page(place("prompts").path, query_params={})
    tables.show(rows, CALL_COLUMNS, key="usage-calls", zone=my_zone_name(), height="content")
    fields = ["at", *(c.field for c in CALL_COLUMNS if c.field != "cost"), "unattributed", "cost_usd"]
    tables.downloads(rows, fields, name="usage-request", key="usage-calls-file")


def _list(
    rows: list[dict[str, Any]], columns: tuple[Column, ...], name: str, total: int, more: tuple[str, ...]
) -> int | None:
    if not rows:
        st.text("Nothing here: no call within the range, or the page is beyond the end.")
    chosen = tables.show(rows, columns, key=f"usage-{name}", zone=my_zone_name(), select=True) if rows else None
    pages = max(1, -(-total // reads.PAGE))
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        if pages > 1:
            key = f"{name}-page"
            if st.session_state.get(key, 1) > pages:
                st.session_state[key] = pages
            st.pagination(pages, key=key, bind="query-params")
        fields = [c.field for c in columns if c.field not in ("key", "cost")] + list(more)
        tables.downloads(rows, fields, name=f"usage-{name}", key=f"usage-{name}-file")
    return chosen
