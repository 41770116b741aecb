"""The companion of this process, with everything that is asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from core.companion.act.act import Act
from core.companion.act.missions.missions import Missions
from core.companion.contract import Module
from core.companion.converse.chat.chat import Chat
from core.companion.converse.extraction import Extraction
from core.companion.converse.feed import Feed
from core.companion.converse.llm.router import Router
from core.companion.converse.rituals.opening import Routines
from core.companion.converse.rules_tier.rules import RulesTier
from core.companion.deps import Deps
from core.companion.records.records import Records
from core.companion.reflect.correlations import Correlations
from core.companion.reflect.daily import Daily
from core.companion.reflect.measures import Measures
from core.companion.reflect.opening import Reflection
from core.companion.reflect.projections import Projections
from core.companion.reflect.scanner import Scanner
from core.companion.reflect.streaks import Streaks
from core.companion.settings import CompanionSettings
from core.companion.tick import Tick


@dataclass(frozen=True)
class Companion:
    """One per process, thread-safe. Everything that a page, a route or a command asks of the companion."""

    deps: Deps
    settings: CompanionSettings
    records: Records
    modules: tuple[Module, ...]
    act: Act
    measures: Measures
    projections: Projections
    streaks: Streaks
    correlations: Correlations
    scanner: Scanner
    daily: Daily
    tick: Tick
    router: Router
    reflection: Reflection
    routines: Routines
    missions: Missions
    rules: RulesTier
    chat: Chat
    feed: Feed
    extraction: Extraction

    def start(self) -> None:
        """Begin to look after itself, in one thread of its own; a second call changes nothing."""
        self.tick.start()

    def close(self) -> None:
        """Stop that thread and stop listening. Idempotent."""
        self.tick.close()
        self.missions.close()
        self.projections.close()
        self.router.close()
