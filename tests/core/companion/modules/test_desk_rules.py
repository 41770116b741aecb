"""The rules of the product's own parts at their bounds: what they say, how loudly, and when it is over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from core.companion.contract import Nudge, Rule, RuleContext
from core.companion.modules import health_rules, memory_rules, snapshots_rules, usage_rules
from core.companion.modules.desk import FIGURES
from core.events.actor import system
from core.events.event import Event, Meta
from tests.support.companion import UTC_ZONE, day_of

RULES = {
    rule.id: rule for module in (memory_rules, snapshots_rules, usage_rules, health_rules) for rule in module.RULES
}
LIMITS: dict[str, dict[str, float]] = {}
for _name, _value in FIGURES.items():
    LIMITS.setdefault(_name.split(".")[0], {})[_name.split(".")[1]] = _value


def context(hour: int = 10, event: Event | None = None, **sections: Mapping[str, Any]) -> RuleContext:
    day = day_of(**{n: {"limits": LIMITS.get(n, {}), **sections.get(n, {})} for n in ("memory", "snapshots", "usage")},
                 health=sections.get("health", {}))  # fmt: skip
    return RuleContext(datetime(2026, 11, 30, hour, 0, tzinfo=UTC), UTC_ZONE, day, event=event)


def said(rule: str, ctx: RuleContext) -> Nudge | None:
    found = RULES[rule].check(ctx)
    assert found is None or isinstance(found, Nudge)
    return found


def event(type: str, **payload: Any) -> Event:
    at = datetime(2026, 11, 30, 9, 30, 5, tzinfo=UTC)
    return Event(
        type, payload, Meta("00000000-0000-4000-8000-000000000000", at, "health", system("rule"), "observation")
    )


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_an_empty_day_says_nothing(rule: Rule) -> None:
    """Neither with limits nor without them: a section that failed is empty."""
    for ctx in (context(), replace(context(), day=day_of())):
        assert rule.check(ctx) is None


@pytest.mark.parametrize(
    ("expired", "age_h", "priority"),
    [(0, None, None), (1, 1, "low"), (1000, 72, "low"), (1001, 1, "medium"), (1, 72.1, "medium"), (10_000, 1, "medium"),
     (10_001, 1, "high"), (1, 14 * 24, "medium"), (1, 14 * 24 + 1, "high")],
)  # fmt: skip
def test_expired_snapshots(expired: int, age_h: float | None, priority: str | None) -> None:
    """Loud by number or by age; once a day, also when a sync wakes it; over when they are gone."""
    ctx = context(snapshots={"expired": expired, "oldest_expired_age_h": age_h})
    found = said("expired-snapshots", ctx)
    assert (found and found.priority) == priority
    if found:
        assert (found.id, found.action_tool) == ("expired-snapshots-2026-11-30", "preview_cleanup")
        assert said("expired-snapshots-synced", ctx) == found
    resolves = RULES["expired-snapshots"].resolves
    assert resolves and resolves(ctx, "any") is (expired == 0)


@pytest.mark.parametrize(
    ("hour", "missing", "yesterday", "priority"),
    [(10, 0, 5, None), (10, 1, 0, "low"), (16, 1, 0, "medium"), (10, 1, 1, "high"), (16, 1, 1, "high")],
)  # fmt: skip
def test_daily_sync_missing(hour: int, missing: int, yesterday: int, priority: str | None) -> None:
    """Low in the morning, medium in the afternoon, high on the second day; one nudge a slot."""
    found = said("daily-sync-missing", context(hour, snapshots={"missing": missing, "expected": 9,
                                                                "missing_yesterday": yesterday}))  # fmt: skip
    assert (found and found.priority) == priority
    assert found is None or found.id == f"daily-sync-missing-2026-11-30-{hour}"


@pytest.mark.parametrize(
    ("hour", "priority"),
    [({"searches": 19, "fallback_percent": 100.0, "p95_ms": 9999}, None),
     ({"searches": 20, "fallback_percent": 5.0, "p95_ms": 1600}, None),
     ({"searches": 20, "fallback_percent": 5.1, "p95_ms": None}, "high"),
     ({"searches": 20, "fallback_percent": 0.0, "p95_ms": 1600.1}, "high")],
)  # fmt: skip
def test_search_degraded(hour: Mapping[str, Any], priority: str | None) -> None:
    """From 20 searches on, above 5 percent by words or twice the latency of the goal; over when it is not so."""
    ctx = context(memory={"hour": hour})
    found = said("search-degraded", ctx)
    assert (found and found.priority) == priority
    resolves = RULES["search-degraded"].resolves
    assert resolves and resolves(ctx, "any") is (found is None)


@pytest.mark.parametrize(
    ("stale", "percent", "model", "priority"),
    [(0, 0, "m", None), (5, 5.0, "m", "medium"), (5, 5.1, "m", "high"), (5, 50, None, None)],
)
def test_stale_embeddings(stale: int, percent: float, model: str | None, priority: str | None) -> None:
    """Any is medium, more than 5 percent high; without a model nobody can say."""
    memory = {"stale_model_chunks": stale, "stale_model_percent": percent, "model": model}
    found = said("stale-embeddings", context(memory=memory))
    assert (found and found.priority) == priority


@pytest.mark.parametrize(
    ("calls", "percent", "priority"),
    [(19, 100, None), (20, 2.0, None), (20, 2.1, "medium"), (20, 10, "medium"), (20, 10.1, "high"), (0, 0, None)],
)
def test_unknown_models(calls: int, percent: float, priority: str | None) -> None:
    """From 20 calls on, above 2 and above 10 percent; no calls are no share."""
    found = said("unknown-models", context(usage={"calls": calls, "unknown_percent": percent}))
    assert (found and found.priority) == priority


@pytest.mark.parametrize(("written", "calls", "says"), [(0, 0, False), (3, 1, False), (3, 0, True)])
def test_usage_gap(written: int, calls: int, says: bool) -> None:
    """The service wrote chunks, and no call was logged in the same hours."""
    ctx = context(11, memory={"written_elsewhere_6h": written}, usage={"calls_6h": calls})
    assert (said("usage-gap", ctx) is not None) is says


def test_spike_and_photos() -> None:
    """A spike over nothing usual is loud; photos without words are whispered."""
    spike = {"date": "2026-11-30", "hour": 9, "actual": 20_000, "baseline": 0, "factor": None, "days": 6}
    found = said("token-spike", context(usage={"spike": spike}))
    assert found and (found.id, found.priority) == ("token-spike-2026-11-30-09", "high")
    photos = said("photo-text-missing", context(memory={"photos_without_text": 3}))
    assert photos and photos.priority == "low"


def test_health_down_is_over_with_its_component() -> None:
    """One nudge an incident; it goes when that component is well, not when another one is."""
    woken = event("HealthDegraded", component="database", status="down")
    found = said("health-down", context(event=woken))
    assert found and found.id == "health-down:database:20261130093005" and not RULES["health-down"].learnable
    resolves = RULES["health-down"].resolves
    assert resolves
    for components, over in (({"database": "down", "auth": "ok"}, False), ({}, False), ({"database": "ok"}, True)):
        assert resolves(context(health={"components": components}), found.id) is over


def test_migrations() -> None:
    """Missing tables by event or by look, once a day; a destructive file once, until it is no longer pending."""
    by_event = said("needs-migration", context(event=event("NeedsMigrationDetected", code="schema")))
    by_look = said("needs-migration-look", context(health={"status": "needs_migration"}))
    assert by_event == by_look and by_event and by_event.priority == "high"
    assert said("needs-migration-look", context(health={"status": "down"})) is None
    found = said(
        "destructive-migration",
        context(event=event("DestructiveMigrationFlagged", file="1_a.sql", statement="drop-table")),
    )
    assert found and found.id == "destructive-migration-1_a.sql" and "drop table" in found.body
    resolves = RULES["destructive-migration"].resolves
    assert resolves and not resolves(context(health={"destructive_migrations": {"1_a.sql": "drop table"}}), found.id)
    assert resolves(context(), found.id)
