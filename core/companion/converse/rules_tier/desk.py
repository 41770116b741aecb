"""What the answers read: the projections and reports, and the moment that it is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.act.proposals import Proposals
from core.companion.contract import Module
from core.companion.converse.rules_tier.answer import Source
from core.companion.converse.rules_tier.figures import RangeFigures
from core.companion.reflect.correlations import Correlation
from core.companion.reflect.facts import Fact
from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.streaks import Streak
from core.health.report import HealthReport
from core.memory.dialogs import DialogReads
from core.usage.report import UsageReports


@dataclass(frozen=True)
class Sources:
    """One per process, thread-safe. Errors of each: DatabaseError."""

    clock: Clock
    zone: ZoneInfo
    modules: Sequence[Module]
    day: Callable[[date], Mapping[str, Mapping[str, Any]]]  # a day snapshot, with `errors`
    goals: Callable[[], Sequence[Goal]]
    streaks: Callable[[], Sequence[Streak]]
    facts: Callable[[], Sequence[Fact]]
    correlations: Callable[[], Sequence[Correlation]]
    figures: RangeFigures
    usage: UsageReports
    dialogs: DialogReads
    health: Callable[[], HealthReport]
    proposals: Proposals

    def now(self) -> datetime:
        """The present moment, with the zone of the settings."""
        return self.clock.now().astimezone(self.zone)

    def today(self) -> date:
        return self.now().date()

    def source(self, page: str, what: str, as_of: datetime | None = None) -> Source:
        """As of now, where nothing else is known."""
        return Source(page, what, (as_of or self.now()).astimezone(self.zone))
