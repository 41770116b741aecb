"""What follows from the figures of the product's own parts, told once a day: budgets passed, spikes, missed syncs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.companion.modules.desk import Desk
from core.companion.modules.health import AGE_S, tell_checked
from core.companion.modules.snapshots import tell_missed
from core.companion.modules.usage import section as usage_of


def look(desk: Desk) -> int:
    """How many events it told. Each is told once for its day and matter, whoever looks. Errors: DatabaseError."""
    today = desk.today()
    usage = usage_of(desk, today)
    told = int(tell_missed(desk))
    for name, payload, about in _found(usage, today.isoformat()):
        told += desk.tell_once(name, payload, about)
    return told


def check(desk: Desk) -> None:
    """HealthChecked of the latest report. For once an hour."""
    tell_checked(desk, desk.deps.health.report(max_age_s=AGE_S))


def _found(usage: Mapping[str, Any], day: str) -> list[tuple[str, dict[str, Any], str]]:
    found: list[tuple[str, dict[str, Any], str]] = []
    budget, limits, spike = usage["budget"], usage["limits"], usage["spike"]
    for event, percent, limit, actual in (
        ("TokenBudgetExceeded", "percent", budget["limit"], usage["total"]),
        ("CostLimitExceeded", "usd_percent", budget["usd_per_day"], usage["cost"]),
    ):
        if limit and (budget[percent] or 0) > 100:
            found.append((event, {"date": day, "limit": limit, "actual": actual}, day))
    if spike is not None:
        payload = {name: spike[name] for name in ("date", "hour", "actual", "baseline", "factor")}
        found.append(("TokenSpikeDetected", payload, f"{spike['date']} {spike['hour']}"))
    if usage["calls"] >= limits["calls_least"] and usage["unknown_percent"] > limits["unknown_percent"]:
        payload = {"date": day, "calls": usage["calls"], "unknown": usage["unknown_calls"]}
        found.append(("UnknownModelShareHigh", {**payload, "share": usage["unknown_percent"]}, day))
    return found
