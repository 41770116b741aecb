"""What the demo usage promises: ninety days, two providers, a spike, and rows that say less than one would like."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from core.services.demo_content import demo_dialogs
from core.services.demo_usage import PRICES, SPIKE_HOUR, TRIAL, demo_prices, demo_usage
from core.usage.entries import PHASES, UsageRow
from core.usage.lines import is_estimated, is_unknown
from core.usage.prices import amount

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def rows() -> list[UsageRow]:
    return demo_usage(demo_dialogs(NOW), NOW)


def test_ninety_days_of_two_providers(rows: list[UsageRow]) -> None:
    """6,000 to 10,000 calls, every phase, several models each; every row is marked and has an id of its own."""
    assert 6_000 < len(rows) == len({row.id for row in rows}) < 10_000
    days = {row.at.date() for row in rows}
    assert days == {NOW.date() - timedelta(n) for n in range(90)}
    assert {row.phase for row in rows} == set(PHASES)
    models = {provider: {row.model for row in rows if row.provider == provider} for provider in ("gemini", "xai")}
    assert min(map(len, models.values())) >= 3
    assert {row.invite_type for row in rows} == {"demo"}
    assert max(row.at for row in rows) <= NOW


def test_evenings_and_weekends_are_fuller(rows: list[UsageRow]) -> None:
    """A pattern by hour and weekday, without the spike."""
    plain = [row for row in rows if (NOW.date() - row.at.date()).days > 1]
    hours = Counter(row.at.hour for row in plain)
    assert sum(hours[h] for h in (18, 19, 20, 21)) > 5 * sum(hours[h] for h in (2, 3, 4, 5))
    weekdays = Counter(row.at.weekday() for row in plain)
    assert weekdays[5] > weekdays[0]


def test_one_hour_of_yesterday_is_out_of_the_usual(rows: list[UsageRow]) -> None:
    """More than three times the median of the same hour, which had usage on at least five of the 14 days before."""
    tokens: Counter[datetime] = Counter()
    for row in rows:
        tokens[row.at.replace(minute=0, second=0, microsecond=0)] += row.total_tokens or 0
    hour = datetime(2026, 11, 29, SPIKE_HOUR, tzinfo=UTC)
    usual = sorted(tokens[hour - timedelta(n)] for n in range(1, 15) if hour - timedelta(n) in tokens)
    assert len(usual) >= 5
    assert tokens[hour] > 3 * usual[len(usual) // 2]


def test_rows_that_say_less(rows: list[UsageRow]) -> None:
    """Estimates, a model without a price, totals above their parts, cached tokens in the prompt, calls of nobody."""
    estimated = [row for row in rows if is_estimated(row.provider, row.model, row.phase)]
    assert 0.02 < len(estimated) / len({row.request_id for row in rows}) < 0.08
    assert all(is_unknown(row.provider, row.model, row.phase) for row in estimated)
    assert 20 < sum((row.provider, row.model) == TRIAL for row in rows) < 200
    assert TRIAL not in PRICES
    parts = [(row.total_tokens or 0) - (row.prompt_tokens or 0) - (row.completion_tokens or 0) for row in rows]
    assert min(parts) == 0 and sum(part > 0 for part in parts) > 100
    cached = [row for row in rows if row.cached_tokens]
    assert len(cached) > 500
    assert all(row.cached_tokens <= row.prompt_tokens for row in cached)
    assert 10 < sum(row.dialog_key is None for row in rows) < 300


def test_phases_belong_together(rows: list[UsageRow]) -> None:
    """The calls of a request follow one another within minutes, in one dialog of the demo."""
    requests: dict[str, list[UsageRow]] = defaultdict(list)
    for row in rows:
        requests[row.request_id].append(row)
    keys = {dialog.ingests[0].owner.dialog_key for dialog in demo_dialogs(NOW)}
    for calls in requests.values():
        assert len({row.dialog_key for row in calls}) == 1
        assert calls[0].dialog_key in keys | {None}
        assert calls == sorted(calls, key=lambda row: row.at)
        assert calls[-1].at - calls[0].at < timedelta(minutes=3)
    assert max(map(len, requests.values())) >= 10


def test_later_the_same_rows_and_more(rows: list[UsageRow]) -> None:
    """A load that is completed hours later finds its rows again, and adds those of the hours between."""
    later = demo_usage(demo_dialogs(NOW + timedelta(hours=6)), NOW + timedelta(hours=6))
    assert set(rows) < set(later)


def test_prices_are_invented_and_say_so() -> None:
    """Each with its source; amounts that the table takes; the unpriced model is not among them."""
    prices = demo_prices(NOW)
    assert len(prices) == 5
    for price in prices:
        assert "Invented" in price["source"]
        assert amount(price["input_usd"], "input_usd") > Decimal(0)
        assert price["valid_from"] < "2024"
