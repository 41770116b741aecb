"""What the companion does by itself: once a day, and every so many seconds."""

from __future__ import annotations

from core.companion.companion import Companion
from core.companion.modules import watch
from core.companion.modules.desk import Desk
from core.companion.reflect.daily import prune
from core.companion.reflect.scanner import LONG_OVERLAP
from core.events.store import AUDIT_DAYS


def plan(companion: Companion, desk: Desk) -> None:
    """Registers each step; nothing runs before `start`."""
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
    tick.register("goals of others", 15, mind.goals.renew, shared=False)
    tick.register("pulse", 30, mind.pulse.step)
    tick.register("streaks", 15, companion.streaks.settle)
    tick.register("scan", 60, companion.scanner.scan)
    tick.register("missions", 60, companion.missions.tick, shared=False)
    tick.register("daily", 60, daily.run_due)
    tick.register("proposals", 60, companion.act.proposals.expire)
    tick.register("desk watch", 300, lambda: watch.look(desk))
    tick.register("health checked", 3600, lambda: watch.check(desk))
