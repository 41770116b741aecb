"""What was learned, and how sure it is: a pure function of counters and time, so that looking twice changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Literal

Category = Literal["pattern", "preference", "context", "relationship"]
Origin = Literal["rule", "llm", "feedback"]

# Confirmations and what they are worth; a contradiction; a week without one after the first 30 days.
LADDER = ((10, 0.9), (3, 0.7), (2, 0.5), (1, 0.3))
CONTRADICTION, WEEK, QUIET_DAYS, MOST, FORGOTTEN = 0.15, 0.05, 30, 0.95, 0.1
SHOWN_FROM = 0.3


@dataclass(frozen=True)
class Learned:
    """What an extractor found: key, words, and in `measured` the figures that a later look compares with."""

    fact_key: str
    category: Category
    content: str
    measured: Mapping[str, Any]
    source_modules: tuple[str, ...]
    source_events: tuple[str, ...] = ()
    origin: Origin = "rule"


@dataclass(frozen=True)
class Fact:
    """A stored fact. `confidence` is that of the moment in which it was read, 0 to 0.95."""

    id: str
    fact_key: str
    category: Category
    content: str
    confidence: float
    confirmations: int
    contradictions: int
    first_seen: datetime
    last_confirmed: datetime
    last_confirmed_day: date
    source_modules: tuple[str, ...]
    source_events: tuple[str, ...] = ()
    origin: Origin = "rule"
    measured: Mapping[str, Any] = field(default_factory=dict)
    expires_at: datetime | None = None


def confidence(confirmations: int, contradictions: int, last_confirmed: datetime, now: datetime) -> float:
    """0 to 0.95. Source: spec/companion.md, ME-2."""
    base = next((worth for least, worth in LADDER if confirmations >= least), 0.0)
    weeks = max(0, (now - last_confirmed - timedelta(days=QUIET_DAYS)) // timedelta(days=7))
    return round(min(MOST, max(0.0, base - CONTRADICTION * contradictions - WEEK * weeks)), 4)


def fact_of(row: Mapping[str, Any], now: datetime) -> Fact:
    """From a row of companion_facts."""
    confirmed = datetime.fromisoformat(row["last_confirmed"])
    return Fact(
        id=row["id"],
        fact_key=row["fact_key"],
        category=row["category"],
        content=row["content"],
        confidence=confidence(row["confirmations"], row["contradictions"], confirmed, now),
        confirmations=row["confirmations"],
        contradictions=row["contradictions"],
        first_seen=datetime.fromisoformat(row["first_seen"]),
        last_confirmed=confirmed,
        last_confirmed_day=date.fromisoformat(row["last_confirmed_day"]),
        source_modules=tuple(row["source_modules"]),
        source_events=tuple(row["source_events"]),
        origin=row["origin"],
        measured=row["measured"],
        expires_at=datetime.fromisoformat(row["expires_at"]) if row["expires_at"] else None,
    )


def opposite(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether what is measured now speaks against what was: other weekdays, a window more than four hours away, a
    frequency that differs by more than half. Source: ME-4a."""
    if "weekdays" in before and "weekdays" in after:
        return not set(before["weekdays"]) & set(after["weekdays"])
    if "from_hour" in before and "from_hour" in after:
        return abs(before["from_hour"] - after["from_hour"]) > 4
    if "per_day" in before and "per_day" in after:
        return abs(before["per_day"] - after["per_day"]) > before["per_day"] / 2
    return False
