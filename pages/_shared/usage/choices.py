"""What is looked at: range, grouping, measure, step. All in the address; ids never are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import streamlit as st

from core.usage.periods import LONGEST_BY_HOUR_DAYS, Period, before, last_days, of_days
from pages._shared.resources import core
from pages._shared.zone import my_zone

# As they stand in the address, so no other words are shown for them.
RANGES = {"1d": 1, "7d": 7, "30d": 30, "90d": 90, "180d": 180, "other": 0}
GROUPS = ("provider", "model", "phase")
MEASURES = ("tokens", "cost", "calls")
STEPS = ("day", "hour")
REQUEST = "usage-request"


@dataclass(frozen=True)
class Choice:
    """The period with the one before it, and what is drawn; `days` counts local days."""

    period: Period
    previous: Period
    days: int
    by: tuple[str, ...]
    measure: str
    step: str


def choose() -> Choice:
    """The filters, drawn; a range of one or two days is shown by hour unless somebody says otherwise."""
    zone = my_zone()
    now = core().clock.now().astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        span = _segments("Range", tuple(RANGES), "30d", "range")
        period = last_days(RANGES[span], now, zone) if RANGES[span] else _other(now)
        by = _several("Stacked by", GROUPS, "by")
        measure = _segments("Amount", MEASURES, "tokens", "amount")
        steps = STEPS if period.days <= LONGEST_BY_HOUR_DAYS else STEPS[:1]
        step = _segments("Step", steps, "hour" if period.days <= 2 else "day", "step")
    days = max(1, round(period.days + 0.49))
    return Choice(period, before(period, zone), days, by, measure, step)


def _segments(label: str, options: tuple[str, ...], default: str, key: str) -> str:
    if st.session_state.get(key) not in (None, *options):
        st.session_state[key] = default
    chosen = st.segmented_control(label, options, default=default, required=True, key=key, bind="query-params")
    return str(chosen or default)


def _several(label: str, options: tuple[str, ...], key: str) -> tuple[str, ...]:
    chosen = st.segmented_control(
        label,
        options,
        default=["model"],
        selection_mode="multi",
        key=key,
        bind="query-params",
        help="One, several together, or none for the sum.",
    )
    return tuple(name for name in options if name in (chosen or []))


def _other(now: datetime) -> Period:
    zone = my_zone()
    today = now.astimezone(zone).date()
    first = _day("From", "from", today - timedelta(29))
    last = _day("To (included)", "to", today)
    return of_days(min(first, last), max(first, last), now, zone)


def _day(label: str, key: str, default: date) -> date:
    if key not in st.session_state and key not in st.query_params:
        st.session_state[key] = default
    given = st.date_input(label, key=key, format="YYYY-MM-DD", width=150, bind="query-params")
    return given if isinstance(given, date) else default
