"""The tokens of one request by phase, from the usage log."""

from __future__ import annotations

from uuid import UUID

import streamlit as st

from core.usage.lines import RequestLine
from core.usage.pricing import Cost, Tokens
from pages._shared import formats, session, tables
from pages._shared.layout import panel
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.usage import reading as usage
from pages._shared.usage import words
from pages._shared.usage.choices import REQUEST
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("phase", "Phase"),
    Column("calls", "Calls", "count", width=60),
    Column("prompt", "Prompt", "count", width=80),
    Column("completion", "Completion", "count", width=95),
    Column("total", "Tokens", "count", width=80),
    Column("cost", "Cost (USD)", "amount", width=95),
)


def show(request_id: str | None, line: RequestLine | None = None) -> None:
    """Of a request by its id, or of one that was read already."""
    with panel("Tokens of this request", "What its calls used, by phase, as token_usage_log has it."):
        if line is None and request_id and is_uuid(request_id):
            line = usage.request(request_id).value
        if line is None:
            st.text(
                "No call was logged with this request." if request_id else "This search was made without a request id."
            )
            return
        rows = []
        for phase in dict.fromkeys(call.phase for call in line.calls):
            calls = [call for call in line.calls if call.phase == phase]
            tokens, cost = sum((c.tokens for c in calls), Tokens()), sum((c.cost for c in calls), Cost())
            rows.append(
                {
                    "phase": phase,
                    "calls": tokens.calls,
                    "prompt": tokens.prompt,
                    "completion": tokens.completion,
                    "total": tokens.total,
                    "cost": words.cost(cost),
                }
            )
        tables.show(rows, COLUMNS, key="phases", zone=my_zone_name(), height="content")
        total = line.tokens.total
        st.caption(f"{formats.plural(len(line.calls), 'call')}, {total:,} tokens in all.")
        if st.button("Its calls on Usage", icon=place("usage").icon, type="tertiary"):
            session.remember(REQUEST, line.request_id)
            st.switch_page(place("usage").path, query_params={})


def is_uuid(text: str) -> bool:
    """The usage log knows requests by UUID alone."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
