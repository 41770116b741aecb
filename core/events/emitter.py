"""The way in for everybody: `emit` a fact; it is on disk when the call returns, and in the database soon after."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.clock import Clock
from core.db.client import Database
from core.db.failures import refuses_values
from core.events.actor import LOCAL_OPERATOR, Actor, current_actor, normalize_actor
from core.events.bus import Bus, Counters, Handler, Unsubscribe, current_cause
from core.events.catalogue import EVENTS
from core.events.drain import Drain
from core.events.event import Event, Meta
from core.events.fields import ident
from core.events.spool import Record, Spool
from core.events.store import EventStore

log = logging.getLogger(__name__)

KIND = "event"


class Events:
    """Bus, spool and store behind one door; thread-safe. One per process."""

    def __init__(self, store: EventStore, spool: Spool, clock: Clock, *, default_actor: Actor = LOCAL_OPERATOR) -> None:
        self.store = store
        self.spool = spool
        self._clock = clock
        self._default_actor = default_actor
        self._bus = Bus(journal=lambda event: _keep(spool, event))
        self.drain = Drain(spool, {KIND: store.send}, refuses_values)
        self._bus.on_any(lambda _: self.drain.wake())

    def emit(
        self,
        type: str,
        payload: Mapping[str, Any],
        *,
        actor: Actor | None = None,
        record_id: str | None = None,
        collection: str | None = None,
        caused_by: str | None = None,
    ) -> Event | None:
        """Record that something happened; None where a guard of the bus dropped it.

        Returns at once and never raises for what goes wrong behind it (handlers, disk, database). Errors: ValueError
        for a type or a payload field that the catalogue does not have: a bug, and the way by which text slips in;
        and for a cause that is no event's id.
        """
        event = self.prepare(
            type, payload, actor=actor, record_id=record_id, collection=collection, caused_by=caused_by
        )
        try:
            return event if self._bus.emit(event) else None
        except Exception:
            log.exception("%s was not recorded", type)
            return None

    def prepare(
        self,
        type: str,
        payload: Mapping[str, Any],
        *,
        actor: Actor | None = None,
        record_id: str | None = None,
        collection: str | None = None,
        caused_by: str | None = None,
    ) -> Event:
        """The event without emitting it: for SQL functions that store it in their own transaction (`event.row()`).

        The actor is settled here: the one given, else the one of `run_as`, else the default.
        """
        known = EVENTS.get(type)
        if known is None:
            raise ValueError(f"there is no event {type}")
        fitting, unfit = known.fit(payload)
        if record_id is not None:
            try:
                record_id = ident(record_id)
            except ValueError:
                unfit.append("record_id")
                record_id = None
        if unfit:
            log.warning("%s: left out, as they hold no count, hash or id: %s", type, ", ".join(unfit))
        who = normalize_actor(actor or current_actor() or self._default_actor)
        meta = Meta(
            id=str(uuid.uuid4()),
            timestamp=self._clock.now(),
            app_id=known.app_id,
            actor=who,
            event_class=known.event_class,
            collection=collection,
            record_id=record_id,
            user_id=who.principal_id if who.kind == "user" else None,
            caused_by=str(uuid.UUID(caused_by)) if caused_by else current_cause(),
        )
        return Event(type, fitting, meta)

    def announce(self, event: Event) -> None:
        """Tell the handlers of an event that is stored already."""
        self._bus.announce(event)

    def on(self, event_type: str, handler: Handler) -> Unsubscribe:
        """See Bus.on."""
        return self._bus.on(event_type, handler)

    def on_any(self, handler: Handler) -> Unsubscribe:
        """See Bus.on_any."""
        return self._bus.on_any(handler)

    def off(self, event_type: str, handler: Handler) -> None:
        """See Bus.off."""
        self._bus.off(event_type, handler)

    @property
    def counters(self) -> Counters:
        """Of the bus, since the start of this process."""
        return self._bus.counters

    @property
    def handlers(self) -> int:
        """How many are registered with the bus."""
        return self._bus.handlers

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Deliver and write everything now; False where something is left on disk."""
        until = time.monotonic() + timeout_s
        return self._bus.wait_idle(timeout_s) and self.drain.flush(until - time.monotonic())

    def close(self, timeout_s: float = 5.0) -> bool:
        """Deliver, write, stop; what the database did not take waits on disk for the next process."""
        until = time.monotonic() + timeout_s
        self._bus.close(timeout_s)
        done = self.drain.close(max(0.1, until - time.monotonic()))
        self.spool.close()
        return done


def open_events(db: Database, folder: Path, clock: Clock, *, default_actor: Actor = LOCAL_OPERATOR) -> Events:
    """Events of one database; what earlier processes left in the spool folder is written first."""
    events = Events(EventStore(db), Spool(folder), clock, default_actor=default_actor)
    events.drain.start()
    return events


def _keep(spool: Spool, event: Event) -> None:
    spool.append(Record(KIND, event.meta.id, event.row()))
