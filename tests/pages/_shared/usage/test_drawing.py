"""The charts: every bucket in its place, zeros instead of slopes, colours that can be told apart."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from core.usage.lines import Call
from core.usage.pricing import Cost, Tokens
from pages._shared.usage import drawing

DAYS = ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"]


def test_missing_days_are_zeros() -> None:
    """Usage on 1, 2 and 5 November: bars, with zeros on the 3rd and 4th, and days as texts (case 25)."""
    figure = drawing.over_time(DAYS, {"m": {"2026-11-01": 4, "2026-11-02": 5, "2026-11-05": 6}}, "tokens", 10)
    [bar] = figure.data
    assert list(bar.x) == DAYS
    assert list(bar.y) == [4, 5, 0, 0, 6]
    assert figure.layout.xaxis.type == "category"
    assert figure.layout.shapes[0].y0 == 10


def test_many_groups_become_others() -> None:
    """The largest keep a colour of their own, the rest is one; nothing is lost."""
    series = {f"m{n}": {DAYS[0]: Decimal(n)} for n in range(20)}
    kept = drawing.largest(series)
    assert len(kept) == len(drawing.COLOURS)
    assert next(iter(kept)) == "m19"
    assert sum(v for amounts in kept.values() for v in amounts.values()) == sum(range(20))


def test_a_waterfall_adds_up() -> None:
    """Each call begins where the one before ended."""
    at = datetime(2026, 11, 30, tzinfo=UTC)
    calls = [
        Call(at, "gemini", "m", "embed", Tokens.of_call(10, None, 10, None), Cost()),
        Call(at, "xai", "a$b$c", "generate", Tokens.of_call(20, 5, 30, None), Cost()),
    ]
    prompt, completion, rest = drawing.waterfall(calls).data
    assert list(prompt.base) == [0, 10]
    assert list(completion.base) == [10, 30]
    assert (list(rest.base), list(rest.x)) == ([10, 35], [0, 5])
