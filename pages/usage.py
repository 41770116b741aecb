"""Usage: what the LLM calls used and cost, over time, by whom, and whether the figures are whole."""

from __future__ import annotations

import streamlit as st

from pages._shared import guard
from pages._shared.companion import ai_usage, inbox, nudges
from pages._shared.examples import curl
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import page_head
from pages._shared.resources import settings
from pages._shared.usage import choices, lists, overview, prices, reading, state

EXAMPLE = (
    '{"requestId": "6f1c2a7e-0000-4000-8000-000000000001", "entries": [{"provider": "gemini", '
    '"model": "gemini-2.5-flash", "phase": "generate", "promptTokens": 1200, "completionTokens": 80}]}'
)

here = guard.enter("usage")
head = page_head(here, "What the LLM calls used and cost, by whom and when, and what is out of the usual.")
inbox.show("usage")
nudges.show("usage")

with boundary(here.title):
    choice = choices.choose()
    read = reading.summary(choice.period, (choice.step, "provider", "model", "phase"))
    now = read.value
    head.as_of(read.at)
    stale(read)
    state.whole(now)
    if now.first is None:
        empty(
            "No call is logged yet",
            "The existing service writes token_usage_log itself; other programs send their calls to the API.",
            code=curl(settings(), "POST", "/usage", EXAMPLE),
        )
    else:
        then = reading.summary(choice.previous, ("provider", "model", "phase")).value
        limits = reading.budget().value
        overview.figures(now, then, choice, limits)
        if not now.lines:
            st.text("No call within this range.")
        overview.over_time(now, choice, limits)
        overview.groups(now, then, choice)
        left, right = st.columns(2)
        with left:
            lists.dialogs(choice)
        with right:
            lists.requests(choice)
        lists.one_request()
        state.anomalies(choice)
    with boundary("The companion's own calls"):
        ai_usage.series(choice.period)
    left, right = st.columns([3, 1])
    with left:
        prices.table(now, choice)
    with right, boundary("The budget"):
        prices.budget(reading.budget().value)
