"""The companion of this process: its parts, and how they are joined."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.act.act import Act, open_act
from core.companion.act.missions.missions import Missions
from core.companion.act.missions.opening import open_missions
from core.companion.contract import Module
from core.companion.converse.chat.chat import Chat
from core.companion.converse.chat.opening import open_chat, open_rules
from core.companion.converse.extraction import Extraction
from core.companion.converse.feed import Feed
from core.companion.converse.llm.opening import ModelSettings, open_router
from core.companion.converse.llm.router import Router
from core.companion.converse.rituals.opening import Routines, open_routines
from core.companion.converse.rules_tier.figures import RangeFigures
from core.companion.converse.rules_tier.range_tool import compare_days
from core.companion.converse.rules_tier.rules import RulesTier
from core.companion.modules import watch
from core.companion.modules.desk import Desk
from core.companion.modules.insights import insights
from core.companion.modules.ops import ops_modules
from core.companion.modules.pilot import pilot_modules
from core.companion.records.records import Records, open_records
from core.companion.reflect.correlations import Correlations
from core.companion.reflect.daily import Daily, prune
from core.companion.reflect.measures import Measures
from core.companion.reflect.opening import Reflection, open_reflection
from core.companion.reflect.projections import Projections
from core.companion.reflect.scanner import LONG_OVERLAP, Scanner
from core.companion.reflect.streaks import Streaks
from core.companion.settings import CompanionSettings
from core.companion.tick import Tick
from core.db.client import Database
from core.events.emitter import Events
from core.events.store import AUDIT_DAYS
from core.health.monitor import Monitor
from core.health.service import HealthService
from core.jobs.jobs import Jobs
from core.memory.dialogs import DialogReads
from core.retrievals.retrievals import Retrievals
from core.services.cleanup_job import CleanupJob
from core.services.corrections import CorrectionService
from core.services.intake import IntakeService
from core.services.merge import MergeService
from core.services.reembed import ReembedService
from core.services.search import SearchService
from core.services.snapshots import SnapshotService
from core.usage.usage import Usage


@dataclass(frozen=True)
class Deps:
    """What modules and wings are built from. Time and zone are given, so that a test can hold them still."""

    db: Database
    events: Events
    clock: Clock
    zone: ZoneInfo
    model: Callable[[], str | None]
    jobs: Jobs
    dialogs: DialogReads
    search: SearchService
    intake: IntakeService
    reembed: ReembedService
    merges: MergeService
    corrections: CorrectionService
    cleanup: CleanupJob
    snapshots: SnapshotService
    usage: Usage
    health: HealthService
    monitor: Monitor
    retrievals: Retrievals
    models: ModelSettings = field(default_factory=ModelSettings)


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


def open_companion(deps: Deps) -> Companion:
    """Build the modules and the wings over them. Connects to nothing; threads start with `start`."""
    settings = CompanionSettings(deps.db)
    records = open_records(deps.db, deps.events, deps.clock, deps.zone)
    desk = Desk(deps, settings)
    modules: tuple[Module, ...] = (
        *pilot_modules(records),
        *ops_modules(desk),
        insights(
            lambda: companion.reflection.facts,
            compare_days(
                lambda last, days: figures.compare(last, days), desk.today, lambda: companion.reflection.sensitive
            ),
        ),
    )
    measures = Measures(deps.db, deps.zone)
    figures = RangeFigures(measures, modules)
    projections = Projections(deps.db, deps.events, modules)
    streaks = Streaks(deps.db, deps.events, deps.clock, deps.zone, [s for m in modules for s in m.streaks])
    correlations = Correlations(
        deps.db,
        deps.clock,
        deps.zone,
        measures,
        [metric for module in modules for metric in module.metrics],
        strict=lambda: settings.figure("correlations_strict", 1) != 0,
    )
    act = open_act(deps.db, deps.events, deps.clock, settings, modules)
    router = open_router(deps.models, deps.db, deps.events, deps.clock, deps.zone, settings)
    reflection = open_reflection(
        deps.db,
        deps.events,
        deps.clock,
        deps.zone,
        modules,
        projections=projections,
        streaks=streaks,
        correlations=correlations,
        measures=measures,
    )
    rules = open_rules(deps, modules, reflection, act, figures)
    companion = Companion(
        deps=deps,
        settings=settings,
        records=records,
        modules=modules,
        act=act,
        measures=measures,
        projections=projections,
        streaks=streaks,
        correlations=correlations,
        scanner=Scanner(deps.db, deps.events, deps.clock, prices=deps.usage.prices.book),
        daily=Daily(deps.db, deps.events, deps.clock, deps.zone),
        tick=Tick(deps.db),
        router=router,
        reflection=reflection,
        routines=open_routines(deps.db, deps.events, deps.clock, deps.zone, modules, act, router, reflection),
        missions=open_missions(deps, records, act, router, reflection),
        rules=rules,
        chat=open_chat(deps, reflection, act, router, rules),
        feed=Feed(deps.db),
        extraction=Extraction(
            deps.db, deps.events, deps.clock, deps.zone, settings, modules, router, reflection.facts, act
        ),
    )
    for module in modules:
        for event_type, handler in module.handlers.items():
            deps.events.on(event_type, handler)
    _plan(companion, desk)
    return companion


def _plan(companion: Companion, desk: Desk) -> None:
    """What is done by itself, and how often."""
    daily, tick = companion.daily, companion.tick
    daily.register("prune", lambda: prune(companion.deps.events))
    daily.register("streaks", companion.streaks.rebuild)
    daily.register("correlations", companion.correlations.compute)
    daily.register("model calls", lambda: {"deleted": companion.router.runs.prune(400)})
    daily.register("taken back", lambda: {"deleted": companion.act.reverts.prune(AUDIT_DAYS)})
    daily.register("routines", companion.routines.rituals.store.tend)
    daily.register("conversations", lambda: {"deleted": companion.chat.prune()})
    daily.register("weekly", companion.extraction.weekly)
    daily.register("scan", lambda: companion.scanner.scan(LONG_OVERLAP))
    mind = companion.reflection
    daily.register("goal periods", lambda: {"changed": mind.goals.tend()})
    daily.register("facts", lambda: {**mind.facts.reflect(), "rules": mind.feedback.learn()})
    daily.register("expiry", lambda: {"expired": mind.nudges.expire(), "pruned": mind.nudges.prune()})
    tick.register("goals", 120, mind.goals.tend)
    tick.register("pulse", 30, mind.pulse.step)
    tick.register("streaks", 15, companion.streaks.settle)
    tick.register("scan", 60, companion.scanner.scan)
    tick.register("missions", 60, companion.missions.tick, shared=False)
    tick.register("daily", 60, daily.run_due)
    tick.register("proposals", 60, companion.act.proposals.expire)
    tick.register("desk watch", 300, lambda: watch.look(desk))
    tick.register("health checked", 3600, lambda: watch.check(desk))
