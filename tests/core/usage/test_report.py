"""Sums and costs out of the rollup through the client: groups, boundaries of prices, requests and dialogs."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import InputError
from core.events.actor import user
from core.usage.lines import folded, is_estimated, is_unknown, parse_groups
from core.usage.periods import Period
from core.usage.pricing import Price, plain

ACTOR = user("local", roles=("admin",))
NOVEMBER = Period(datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


def record(core: Core, *entries: dict[str, Any], **more: Any) -> str:
    request = str(uuid.uuid4())
    base = {"provider": "gemini", "model": "m", "phase": "generate", "at": "2026-11-20T10:00:00Z"}
    core.usage.record({"requestId": request, "entries": [{**base, **e} for e in entries], **more})
    return request


def set_price(core: Core, start: str, usd: str, **more: Any) -> None:
    given = {"provider": "gemini", "model": "m", "source": "invented", "source_date": date(2026, 1, 1), **more}
    amounts: dict[str, Any] = {"input_usd": Decimal(usd), "output_usd": Decimal(usd)}
    core.usage.set_price(ACTOR, Price(valid_from=datetime.fromisoformat(start), **amounts, **given))


def test_priced_by_at_in_utc(core: Core) -> None:
    """A boundary inside the range splits it; a late correction says by its date from when on (case 16)."""
    set_price(core, "2026-01-01T00:00+00:00", "1")
    set_price(core, "2026-11-10T00:00+00:00", "2")
    for at in ("2026-11-09T23:59:59.999Z", "2026-11-10T00:00:00Z", "2026-11-10T00:30:00+02:00", "2026-11-08T12:00:00Z"):
        record(core, {"promptTokens": 1_000_000, "totalTokens": 1_000_000, "at": at})
    summary = core.usage.reports.summary(NOVEMBER, ["day"], "UTC")
    assert {line.day: plain(line.cost.usd) for line in summary.lines} == {
        "2026-11-08": "1",
        "2026-11-09": "2",
        "2026-11-10": "2",
    }
    assert summary.total.cost.usd == 5
    set_price(core, "2026-11-01T00:00+00:00", "0.5")
    assert core.usage.reports.summary(NOVEMBER, []).total.cost.usd == Decimal("3.5")
    before_prices = Period(datetime(2025, 12, 1, tzinfo=UTC), datetime(2025, 12, 31, tzinfo=UTC))
    record(core, {"promptTokens": 9, "totalTokens": 9, "at": "2025-12-20T00:00:00Z"})
    early = core.usage.reports.summary(before_prices, []).total.cost
    assert (early.known, early.unpriced) == (False, 9)


def test_every_grouping_has_the_same_total(core: Core) -> None:
    """693 tokens by provider, model, phase, day and hour; embed is in each; 405 are not attributed (case 15)."""
    record(
        core,
        {"promptTokens": 20, "completionTokens": 198, "totalTokens": 623},
        {"phase": "embed", "model": "a$b$c", "promptTokens": 70, "completionTokens": None, "totalTokens": 70},
    )
    for groups in ([], ["provider"], ["model"], ["phase"], ["day", "model"], ["hour", "phase"]):
        found = core.usage.reports.summary(NOVEMBER, groups, "Europe/Kyiv")
        assert (found.total.tokens.total, found.total.tokens.unattributed) == (693, 405), groups
    by_model = core.usage.reports.summary(NOVEMBER, ["model", "phase"])
    assert {line.model for line in by_model.lines} == {"m", "a$b$c"}
    assert folded(by_model.lines, ["phase"])[("embed",)].tokens.total == 70


def test_size_steps_survive_the_rollup(core: Core) -> None:
    """100 calls of 3,000 in an hour are not priced as one of 300,000 (case 17)."""
    set_price(core, "2026-01-01T00:00+00:00", "1")
    set_price(core, "2026-01-01T00:00+00:00", "10", size_over=200_000)
    record(core, *({"promptTokens": 3000, "totalTokens": 3000} for _ in range(100)))
    record(core, {"promptTokens": 300_000, "totalTokens": 300_000})
    assert core.usage.reports.summary(NOVEMBER, ["day"]).total.cost.usd == Decimal("0.3") + 3
    assert core.usage.reports.dialogs(NOVEMBER).rows[0].cost is None  # of no dialog: without parts


def test_small_sums_through_the_database(core: Core) -> None:
    """10,000 embedding calls of 7 tokens at 0.15 USD a million are 0.0105 in the answer too (case 17)."""
    set_price(core, "2026-01-01T00:00+00:00", "0.15")
    for _ in range(10):
        record(core, *({"promptTokens": 7, "totalTokens": 7, "phase": "embed"} for _ in range(1000)), dialogKey="d")
    summary = core.usage.reports.summary(NOVEMBER, ["phase"])
    assert summary.lines[0].as_json(["phase"])["costUsd"] == "0.0105"
    assert plain(core.usage.reports.dialogs(NOVEMBER).rows[0].cost.usd) == "0.0105"


def test_dialogs_and_requests(core: Core) -> None:
    """Largest first, with their cost; a request keeps its calls in order and marks rows that are equal."""
    set_price(core, "2026-01-01T00:00+00:00", "1")
    small = record(core, {"promptTokens": 5, "totalTokens": 5}, dialogKey="a")
    large = record(
        core,
        {"promptTokens": 50, "totalTokens": 50, "phase": "embed"},
        {"promptTokens": 50, "totalTokens": 50, "phase": "embed"},
        {"promptTokens": 9, "totalTokens": 9, "at": "2026-11-20T10:00:05Z"},
        dialogKey="b",
    )
    dialogs = core.usage.reports.dialogs(NOVEMBER)
    assert [(d.dialog_key, d.total, d.calls) for d in dialogs.rows] == [("b", 109, 3), ("a", 5, 1)]
    assert dialogs.rows[0].cost is not None
    assert plain(dialogs.rows[0].cost.usd) == "0.000109"
    requests = core.usage.reports.requests(NOVEMBER)
    assert [r.request_id for r in requests.rows] == [large, small]
    assert requests.total == 2
    assert [r.request_id for r in core.usage.reports.requests(NOVEMBER, "a").rows] == [small]
    found = core.usage.reports.request(large)
    assert found is not None
    assert [(c.phase, c.alike) for c in found.calls] == [("embed", 2), ("embed", 2), ("generate", 1)]
    assert found.tokens.total == 109
    assert core.usage.reports.request(str(uuid.uuid4())) is None


def test_pages_of_a_list(core: Core) -> None:
    """A walk sees every dialog once, though all have the same total."""
    for n in range(7):
        record(core, {"totalTokens": 5}, dialogKey=f"d{n}")
    pages = [core.usage.reports.dialogs(NOVEMBER, limit=3, offset=o) for o in (0, 3, 6, 9)]
    assert [d.dialog_key for p in pages for d in p.rows] == [f"d{n}" for n in range(7)]
    assert {p.total for p in pages} == {7}


def test_unknown_and_estimated() -> None:
    """The guess of the spec is both; an unlisted provider or phase is unknown and not estimated."""
    assert is_estimated("gemini", "unknown", "generate")
    assert not is_estimated("xai", "unknown", "generate")
    assert is_unknown("gemini", "unknown", "embed")
    assert is_unknown("acme", "m", "embed")
    assert is_unknown("gemini", "m", "dreaming")
    assert not is_unknown("xai", "m", "repair")


def test_groups_are_checked(core: Core) -> None:
    """A grouping that there is not, or too many hours, is an input error naming groupBy."""
    assert parse_groups("day, model,day") == ("day", "model")
    for groups, period in ((["colour"], NOVEMBER), (["hour"], Period(datetime(2026, 1, 1, tzinfo=UTC), NOVEMBER.end))):
        with pytest.raises(InputError) as error:
            core.usage.reports.summary(period, groups)
        assert error.value.field == "groupBy"
