"""Nudges as people meet them: shown, acted on, put off, dismissed; and gone by themselves."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from core.access import require
from core.clock import Clock
from core.companion.reflect.pulse.store import Outcome, PulseStore, ShownNudge
from core.events.actor import Actor, system
from core.events.emitter import Events

SNOOZE = timedelta(hours=1)
KEPT_DAYS = 400


class Nudges:
    """Thread-safe; one per process. Errors: DatabaseError, and Forbidden for who may not answer."""

    def __init__(self, store: PulseStore, events: Events, clock: Clock, zone: ZoneInfo) -> None:
        self._store = store
        self._events = events
        self._clock = clock
        self._zone = zone

    def open(self, module: str | None = None) -> tuple[ShownNudge, ...]:
        """What is shown now, the most important first."""
        return self._store.open(self._clock.now(), module)

    def act(self, actor: Actor, nudge: ShownNudge) -> bool:
        """Somebody took the action; False where the nudge has an outcome already."""
        require(actor, "answer_nudges")
        return self.resolve(nudge, "acted", actor)

    def dismiss(self, actor: Actor, nudge: ShownNudge) -> bool:
        """Never again: its id is used up."""
        require(actor, "answer_nudges")
        return self.resolve(nudge, "dismissed", actor)

    def snooze(self, actor: Actor, nudge: ShownNudge, length: timedelta = SNOOZE) -> bool:
        """Away for an hour."""
        require(actor, "answer_nudges")
        return self.resolve(nudge, "snoozed", actor, until=self._clock.now() + length)

    def expire(self) -> int:
        """What is past its time becomes expired; how many."""
        now = self._clock.now()
        return sum(self.resolve(nudge, "expired", system("rule")) for nudge in self._store.expired(now))

    def prune(self) -> int:
        """Forget those that ended more than 400 days ago."""
        return self._store.prune(self._clock.now() - timedelta(days=KEPT_DAYS))

    def resolve(self, nudge: ShownNudge, outcome: Outcome, actor: Actor, *, until: datetime | None = None) -> bool:
        """The outcome, once, with its event by that actor."""
        payload = {"nudge_id": nudge.id, "rule_id": nudge.rule_id, "type": nudge.type}
        event = self._events.prepare(
            "NudgeSnoozed" if until else "NudgeResolved",
            {**payload, **({"until": until.isoformat()} if until else {"outcome": outcome})},
            actor=actor,
            record_id=nudge.id,
            collection="companion_nudges",
        )
        took = self._store.resolve(nudge.id, outcome, self._clock.now(), self._zone.key, event, until)
        if took is None:
            return False
        self._events.announce(event)
        return True
