"""How the parts of the companion are joined."""

from __future__ import annotations

from core.companion.act.act import open_act
from core.companion.act.missions.opening import open_missions
from core.companion.companion import Companion
from core.companion.contract import Module
from core.companion.converse.chat.opening import open_chat, open_rules
from core.companion.converse.extraction import Extraction
from core.companion.converse.feed import Feed
from core.companion.converse.llm.opening import open_router
from core.companion.converse.rituals.opening import open_routines
from core.companion.converse.rules_tier.figures import RangeFigures
from core.companion.converse.rules_tier.range_tool import compare_days
from core.companion.deps import Deps
from core.companion.modules import companion as own
from core.companion.modules.desk import Desk
from core.companion.modules.insights import insights
from core.companion.modules.ops import ops_modules
from core.companion.modules.pilot import pilot_modules
from core.companion.records.records import open_records
from core.companion.reflect.correlations import Correlations
from core.companion.reflect.daily import Daily
from core.companion.reflect.measures import Measures
from core.companion.reflect.opening import open_reflection
from core.companion.reflect.projections import Projections
from core.companion.reflect.scanner import Scanner
from core.companion.reflect.streaks import Streaks
from core.companion.schedule import plan
from core.companion.settings import CompanionSettings
from core.companion.tick import Tick


def open_companion(deps: Deps) -> Companion:
    """Build the modules and the wings over them. Connects to nothing; threads start with `start`."""
    settings = CompanionSettings(deps.db)
    records = open_records(deps.db, deps.events, deps.clock, deps.zone)
    desk = Desk(deps, settings)
    rooms = (*pilot_modules(records), *ops_modules(desk))
    modules: tuple[Module, ...] = (
        *rooms,
        insights(
            lambda: companion.reflection.facts,
            compare_days(
                lambda last, days: figures.compare(last, days), desk.today, lambda: companion.reflection.sensitive
            ),
        ),
        own.companion(records, lambda: companion.reflection, lambda: companion.routines, own.countable(rooms)),
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
    plan(companion, desk)
    return companion
