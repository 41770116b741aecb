"""The tables of routines, through their SQL functions. Errors of every call: DatabaseError."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.converse.rituals.ritual import Ritual, Run, ritual_of, run_of
from core.db.client import Database
from core.events.emitter import Events
from core.events.event import Event


@dataclass(frozen=True)
class Change:
    """What a SQL function did, in its own word, and the run as it is now."""

    outcome: str
    run: Run | None = None
    before: str | None = None
    aborted: int = 0


@dataclass(frozen=True)
class RunPage:
    rows: tuple[Run, ...]
    total: int


class RitualStore:
    """Thread-safe. Source: companion_rituals, companion_ritual_steps, companion_ritual_logs."""

    def __init__(self, db: Database, events: Events, clock: Clock, zone: ZoneInfo) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._zone = zone

    def today(self) -> date:
        return self._clock.now().astimezone(self._zone).date()

    def list(self, id: str | None = None) -> tuple[Ritual, ...]:
        params = {"p_day": self.today().isoformat(), "p_id": id}
        return tuple(ritual_of(row) for row in self._db.rpc("companion_ritual_list", params, read=True, returns=list))

    def save(self, ritual: Ritual, event: Event) -> Change:
        row = {
            name: getattr(ritual, name) for name in ("id", "title", "description", "trigger", "template_id", "origin")
        }
        steps = [step.as_json() for step in ritual.steps]
        return self._change("companion_ritual_save", event, ritual=row, steps=steps, version=ritual.version)

    def status(self, id: str, status: str, event: Event) -> Change:
        return self._change("companion_ritual_status", event, id=id, status=status)

    def start(self, id: str, log: str, event: Event) -> Change:
        return self._change("companion_ritual_start", event, id=id, log=log, day=self.today().isoformat())

    def take(self, run: Run, pos: int, item: int | None, attempt: str) -> Change:
        return self._run("companion_ritual_take", None, log=run.id, pos=pos, item=item, **{"try": attempt})

    def put(
        self, run: Run, pos: int, item: int | None, items: int, attempt: str, result: Mapping[str, Any], event: Event
    ) -> Change:
        given = {**result, "at": self._at()}
        rest: dict[str, Any] = {"log": run.id, "pos": pos, "item": item, "items": items, "try": attempt}
        return self._run("companion_ritual_put", event, result=given, **rest)

    def mark(self, run: Run, positions: Sequence[int], status: str, event: Event) -> Change:
        return self._run("companion_ritual_mark", event, log=run.id, positions=list(positions), status=status)

    def end(self, run: Run, status: str, event: Event) -> Change:
        return self._run("companion_ritual_end", event, log=run.id, status=status)

    def runs(self, id: str | None = None, *, limit: int = 25, offset: int = 0) -> RunPage:
        params = {"p_id": id, "p_limit": limit, "p_offset": offset}
        found = self._db.rpc("companion_ritual_runs", params, read=True, returns=dict)
        return RunPage(tuple(run_of(row) for row in found["rows"]), int(found["total"]))

    def tend(self) -> Mapping[str, int]:
        """Close runs of earlier days and delete those of long ago; how many."""
        params = {"p_day": self.today().isoformat(), "p_at": self._at()}
        return self._db.rpc("companion_ritual_tend", params, read=False, returns=dict)

    def _change(self, function: str, event: Event, **given: Any) -> Change:
        given["actor"] = event.meta.actor.as_json()
        change = self._run(function, event, **given)
        if change.outcome in ("created", "changed", "started"):
            self._events.announce(event)
        return change

    def _run(self, function: str, event: Event | None, **given: Any) -> Change:
        params = {f"p_{name}": value for name, value in given.items()} | {"p_at": self._at()}
        if event is not None:
            params["p_event"] = event.row()
        found = self._db.rpc(function, params, read=False, returns=dict)
        run = run_of(found["run"]) if found.get("run") else None
        return Change(found["outcome"], run, found.get("before"), int(found.get("aborted") or 0))

    def _at(self) -> str:
        return self._clock.now().isoformat()
