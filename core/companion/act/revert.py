"""Taking back what an AI did: one iteration at a time, newest event first, by the inverses that modules have.

Each inverse runs as the person who asks, so that the undo stands in the log; what somebody changed since stays as it
is. Each event is claimed before its inverse runs: a second revert, from wherever, touches nothing.
Source: spec/companion.md, WB-2 to WB-4.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from core.access.roles import acting, require
from core.clock import Clock
from core.companion.act.timeline import Done, Timeline
from core.companion.contract import ToolResult
from core.db.client import Database
from core.errors import CoreError, Forbidden
from core.events.actor import Actor, run_as
from core.events.bus import because_of
from core.events.emitter import Events

log = logging.getLogger(__name__)

Inverse = Callable[[Mapping[str, Any]], ToolResult]
BROKEN = "Taking it back met an error of its own; the log says where."


@dataclass(frozen=True)
class Plan:
    """What a revert would do, by event type, before anybody presses: `undoable`, `unsupported` (nothing can take these
    back) and how many are `reverted` already."""

    undoable: Mapping[str, int] = field(default_factory=dict)
    unsupported: Mapping[str, int] = field(default_factory=dict)
    reverted: int = 0


@dataclass(frozen=True)
class Failure:
    """An event that stays: `reason` says why, mostly that somebody changed its record since."""

    type: str
    record_id: str | None
    reason: str


@dataclass(frozen=True)
class Reverted:
    """`total` counts the changes of the iteration, `already` those that were taken back or are being taken back."""

    total: int = 0
    reverted: int = 0
    skipped_unsupported: int = 0
    already: int = 0
    failures: tuple[Failure, ...] = ()

    @property
    def failed(self) -> int:
        return len(self.failures)


class Reverts:
    """One per process, thread-safe. Source: companion_{claim,end}_revert."""

    def __init__(
        self, db: Database, events: Events, clock: Clock, timeline: Timeline, inverses: Mapping[str, Inverse]
    ) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._timeline = timeline
        self.inverses = inverses

    def plan(self, mission_id: str, iteration_id: str) -> Plan:
        """Errors: DatabaseError."""
        changes = self._changes(mission_id, iteration_id)
        return Plan(
            Counter(e.type for e in changes if e.type in self.inverses and e.outcome != "reverted"),
            Counter(e.type for e in changes if e.type not in self.inverses),
            sum(e.outcome == "reverted" for e in changes),
        )

    def revert(self, mission_id: str, iteration_id: str) -> Reverted:
        """Take back what can be; an inverse that fails never stops the next one.

        Errors: Forbidden for anyone but a person; DatabaseError while reading or claiming, with what was taken back
        until then noted: asked again it goes on from there.
        """
        actor = acting()
        if actor.kind != "user":
            raise Forbidden("Only a person takes back what an AI did.", hint="Use the Workbench.")
        require(actor, "revert_ai")
        self._events.flush()  # what was done a moment ago is on its way into the table
        changes = self._changes(mission_id, iteration_id)
        reverted = already = unsupported = 0
        failures: list[Failure] = []
        try:
            for event in changes:
                inverse = self.inverses.get(event.type)
                if inverse is None:
                    unsupported += 1
                    continue
                attempts = self._claim(event, actor)
                if attempts is None:
                    already += 1
                    continue
                reason = _run(inverse, event, actor)
                self._end(event, attempts, reason)
                if reason is None:
                    reverted += 1
                else:
                    failures.append(Failure(event.type, event.record_id, reason))
        finally:
            if reverted or failures:
                facts = {"reverted": reverted, "unsupported": unsupported, "failed": len(failures)}
                told = {"mission_id": mission_id, "iteration_id": iteration_id, **facts}
                self._events.emit("IterationReverted", told, actor=actor, record_id=iteration_id)
        return Reverted(len(changes), reverted, unsupported, already, tuple(failures))

    def prune(self, days: int) -> int:
        """Errors: DatabaseError."""
        return int(self._db.rpc("companion_prune_reverts", {"p_days": days}, read=False, returns=dict)["deleted"])

    def _changes(self, mission_id: str, iteration_id: str) -> list[Done]:
        return [event for event in self._timeline.iteration(mission_id, iteration_id) if event.changes]

    def _claim(self, event: Done, actor: Actor) -> int | None:
        params = {"p_event_id": event.id, "p_actor": actor.as_json(), "p_at": self._clock.now().isoformat()}
        answer = self._db.rpc("companion_claim_revert", params, read=False, returns=dict)
        return int(answer["attempts"]) if answer["outcome"] == "claimed" else None

    def _end(self, event: Done, attempts: int, reason: str | None) -> None:
        outcome = "reverted" if reason is None else "failed"
        params = {"p_event_id": event.id, "p_attempts": attempts, "p_outcome": outcome, "p_reason": reason}
        self._db.rpc("companion_end_revert", params, read=False, returns=dict)


def _run(inverse: Inverse, event: Done, actor: Actor) -> str | None:
    """None where it was taken back, else why not. Never raises."""
    try:
        with run_as(actor), because_of(event.id):
            result = inverse(event.row())
    except CoreError as error:
        return error.what
    except Exception as bug:
        step, place = bug.__traceback__, "?"
        while step is not None:
            place = f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}"
            step = step.tb_next
        # Not its message: it may hold somebody's text.
        log.error("the inverse of %s failed: %s at %s", event.type, type(bug).__name__, place)
        return BROKEN
    return None if result.success else result.message or "It said no."
