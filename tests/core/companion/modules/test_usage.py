"""Usage as a module: the day from the totals, spikes against their baseline, the budget and the way back."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.modules import watch
from core.events.actor import LOCAL_OPERATOR
from core.usage.prices import Budget
from tests.support.companion import Office, agent

NOW = datetime(2026, 11, 30, 12, 20, tzinfo=UTC)


@pytest.fixture
def office(core: Core) -> Office:
    return Office(core, NOW)


def used(office: Office, total: int, at: datetime = NOW, *, model: str = "m", calls: int = 1, phase: str = "generate",
         dialog_key: str | None = None) -> None:  # fmt: skip
    entry = {"provider": "gemini", "model": model, "phase": phase, "promptTokens": total, "totalTokens": total}
    for n in range(calls):
        moment = (at + timedelta(milliseconds=n)).isoformat()
        given: dict[str, Any] = {"requestId": str(uuid.uuid4()), "entries": [{**entry, "at": moment}]}
        office.core.usage.record({**given, "dialogKey": dialog_key} if dialog_key else given)


def test_the_day(office: Office) -> None:
    """Requests, calls, tokens by phase and model, the share of unknown models; yesterday is another day."""
    used(office, 100, calls=3)
    used(office, 50, model="unknown", phase="repair")
    used(office, 999, NOW - timedelta(days=1))
    day = office.day()["usage"]
    assert (day["requests"], day["calls"], day["total"], day["prompt"]) == (4, 4, 350, 350)
    assert day["by_phase"] == {"generate": 300, "repair": 50} and day["by_model"] == {"m": 300, "unknown": 50}
    assert (day["unknown_percent"], day["tokens_per_request"], day["calls_6h"]) == (25.0, 87.5, 4)
    assert day["budget"] == {"limit": None, "percent": None, "usd_per_day": None, "usd_percent": None}


def test_a_day_without_calls(office: Office) -> None:
    """Shares of nothing are zero, and no rule has anything to say."""
    day = office.day()["usage"]
    assert (day["unknown_percent"], day["estimated_percent"], day["tokens_per_request"], day["spike"]) == (
        0,
        0,
        0,
        None,
    )
    for rule in ("token-spike", "token-budget", "unknown-models", "usage-gap"):
        assert office.rule(rule).check(office.context()) is None


@pytest.mark.parametrize(("days", "total", "priority"), [(4, 90_000, None), (5, 90_000, "high"), (5, 50_000, "medium"),
                                                         (14, 30_000, None), (14, 30_003, "medium")])  # fmt: skip
def test_a_spike_needs_a_baseline(office: Office, days: int, total: int, priority: str | None) -> None:
    """Fewer than five days of that hour are silent; above three times the median it is said, above six loudly."""
    hour = NOW.replace(minute=0) - timedelta(hours=1)
    for back in range(1, days + 1):
        used(office, 10_000 if back != 2 else 400_000, hour - timedelta(days=back))
    used(office, total, hour + timedelta(minutes=5))
    nudge: Any = office.rule("token-spike").check(office.context())
    assert (nudge and nudge.priority) == priority
    if nudge:
        assert nudge.id == "token-spike-2026-11-30-11" and "10,000" in nudge.body


def test_small_hours_are_no_spike(office: Office) -> None:
    """Ten times a very small number is still small."""
    hour = NOW.replace(minute=0) - timedelta(hours=1)
    for back in range(1, 8):
        used(office, 100, hour - timedelta(days=back))
    used(office, 10_000, hour)
    assert office.rule("token-spike").check(office.context()) is None


def test_the_budget_is_proposed_set_and_taken_back(office: Office) -> None:
    """An AI proposes it, the change of somebody else makes that stale, the inverse gives the former one back."""
    office.core.usage.set_budget(LOCAL_OPERATOR, Budget(1_000, Decimal("2.50")))
    staged = office.call("set_token_budget", actor=agent(), value="5000")
    assert office.act.proposals.approve(staged.data["proposal_id"]).succeeded
    assert office.core.usage.prices.budget() == Budget(5_000, Decimal("2.50"))
    event = office.core.events.store.query(type="UsageBudgetSet").rows[0]
    assert event.actor == agent()
    undo = office.modules["usage"].inverses["UsageBudgetSet"]
    assert undo({"payload": event.payload}).success
    assert office.core.usage.prices.budget() == Budget(1_000, Decimal("2.50"))
    assert not office.call("set_token_budget", value=1_000).success
    for wrong in (0, -1, "many", None):
        assert not office.call("set_token_budget", value=wrong).success


def test_budget_rule(office: Office) -> None:
    """80 and 100 percent, each with an id of its own; the cost counts as well as the tokens."""
    office.core.usage.set_budget(LOCAL_OPERATOR, Budget(1_000))
    rule = office.rule("token-budget")
    seen = []
    for more in (700, 150, 200):
        used(office, more)
        nudge: Any = rule.check(office.context())
        seen.append((nudge.id, nudge.priority) if nudge else None)
    assert seen == [None, ("token-budget-warn-2026-11-30", "low"), ("token-budget-100-2026-11-30", "high")]


def test_days_within_the_budget(office: Office) -> None:
    """Only days with calls count, and without a budget none does."""
    streak = next(s for s in office.modules["usage"].streaks if s.id == "usage.within_budget")
    assert callable(streak.threshold) and streak.threshold() == -1 and streak.daily and streak.closing
    used(office, 10, NOW - timedelta(days=2))
    used(office, 20, model="unknown")
    today = office.desk.today()
    assert streak.daily(today - timedelta(days=3), today) == {today - timedelta(days=2): 10.0, today: 20.0}
    unknown = next(s for s in office.modules["usage"].streaks if s.id == "usage.no_unknown")
    assert unknown.daily and unknown.daily(today - timedelta(days=3), today) == {
        today - timedelta(days=2): 0.0, today: 1.0,
    }  # fmt: skip


def test_what_is_told_once_a_day(office: Office) -> None:
    """A budget passed, a spike, unknown models: each once, however often it is looked for; over the next day anew."""
    office.core.usage.set_budget(LOCAL_OPERATOR, Budget(30_000, Decimal("0.01")))
    hour = NOW.replace(minute=0) - timedelta(hours=1)
    for back in range(1, 8):
        used(office, 100, hour - timedelta(days=back))
    used(office, 2_000, hour, calls=20, model="unknown")
    assert [watch.look(office.desk), watch.look(office.desk)] == [3, 0]
    told = {row.type: row for row in office.core.events.store.query(limit=50).rows}
    assert told["TokenBudgetExceeded"].payload == {"date": "2026-11-30", "limit": 30_000, "actual": 40_000}
    assert told["TokenSpikeDetected"].payload["factor"] == 400
    assert told["UnknownModelShareHigh"].payload["share"] == 100
    assert told["TokenSpikeDetected"].actor.kind == "system"
    office.clock.at += timedelta(days=1)
    assert watch.look(office.desk) == 0


def test_reads(office: Office) -> None:
    """By range and group, of a dialog, and a price where one is entered."""
    used(office, 100, dialog_key="d1")
    used(office, 50, NOW - timedelta(days=1))
    week = office.call("usage_summary", actor=agent(), range="week", group_by="day").llm_data
    assert {day: line["tokens"] for day, line in week["groups"].items()} == {"2026-11-29": 50, "2026-11-30": 100}
    assert office.call("usage_summary", range="yesterday").llm_data["tokens"] == 50
    assert office.call("usage_by_dialog", dialog_key="d1").llm_data["total"] == 100
    assert office.call("usage_by_dialog", dialog_key="d1", since="2026-12-01").llm_data["total"] == 0
    assert not office.call("usage_by_dialog", dialog_key="d1", since="soon").success
    assert not office.call("estimate_cost", tokens=1_000_000, model="m").success
