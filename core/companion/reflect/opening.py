"""The parts of reflection that goals, facts, rules and the context document are, joined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import MetricDef, Module, Nudge
from core.companion.reflect.context import Situation, context_document
from core.companion.reflect.correlations import Correlations
from core.companion.reflect.goals.goals import Goals
from core.companion.reflect.goals.store import GoalStore
from core.companion.reflect.measures import Measures
from core.companion.reflect.memory import Facts
from core.companion.reflect.projections import Projections
from core.companion.reflect.pulse.feedback import Feedback
from core.companion.reflect.pulse.look import Sources
from core.companion.reflect.pulse.nudges import Nudges
from core.companion.reflect.pulse.pulse import Pulse
from core.companion.reflect.pulse.rules import GENERAL_RULES, insight_of
from core.companion.reflect.pulse.store import PulseStore
from core.companion.reflect.streaks import Streaks
from core.db.client import Database
from core.events.emitter import Events


@dataclass(frozen=True)
class Reflection:
    """One per process, thread-safe: goals, facts, nudges, the rules' pulse and what answers taught."""

    goals: Goals
    facts: Facts
    nudges: Nudges
    pulse: Pulse
    feedback: Feedback
    sources: Sources
    sensitive: frozenset[str]
    clock: Clock
    zone: ZoneInfo

    def context(self, *, for_model: bool) -> str:
        """The context document of this moment; never stored. Errors: DatabaseError."""
        now: datetime = self.clock.now().astimezone(self.zone)
        situation = Situation(
            now=now,
            day=self.sources.day(now.date()),
            goals=self.sources.goals(),
            streaks=self.sources.streaks(),
            facts=self.sources.facts(),
            correlations=self.sources.correlations(),
            sensitive=self.sensitive,
        )
        return context_document(situation, for_model=for_model)


def open_reflection(
    db: Database,
    events: Events,
    clock: Clock,
    zone: ZoneInfo,
    modules: Sequence[Module],
    *,
    projections: Projections,
    streaks: Streaks,
    correlations: Correlations,
    measures: Measures,
) -> Reflection:
    """Built, and listening to events; connects to nothing until one concerns it."""

    def daily(metric: MetricDef, first: date, last: date) -> Mapping[date, float]:
        if metric.measure is None:
            return {}
        return measures.daily({metric.id: metric.measure}, first, last)[metric.id]

    goals = Goals(
        GoalStore(db, events, clock, zone),
        events,
        modules,
        streaks=lambda: {streak.id: float(streak.current) for streak in streaks.all()},
        daily=daily,
    )
    facts = Facts(db, events, clock, zone, modules)
    sources = Sources(
        day=projections.day,
        streaks=streaks.all,
        goals=lambda: goals.list(0),
        facts=facts.list,
        correlations=correlations.all,
    )
    rules = (*GENERAL_RULES, *(rule for module in modules for rule in module.rules))
    store = PulseStore(db)
    nudges = Nudges(store, events, clock, zone)

    def told(nudge: Nudge) -> None:
        shown = insight_of(nudge)
        if shown is not None:
            correlations.mark_shown(shown)

    pulse = Pulse(store, nudges, events, clock, zone, rules, sources, told=told)
    events.on_any(goals.track)
    events.on_any(pulse.hear)
    return Reflection(
        goals=goals,
        facts=facts,
        nudges=nudges,
        pulse=pulse,
        feedback=Feedback(store, facts, events, clock, rules),
        sources=sources,
        sensitive=frozenset(module.name for module in modules if module.content_class == "sensitive"),
        clock=clock,
        zone=zone,
    )
