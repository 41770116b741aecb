"""Walks through a routine. The row of the run is the state: reloads, reruns and other tabs see the same, and of two
that press at once one runs the step. Source: spec/companion.md, RI-4, RI-5 and RI-7.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.access import require
from core.companion.contract import ModuleTool, ToolResult
from core.companion.converse.rituals.answers import arguments, known_from, length_of, taken_of
from core.companion.converse.rituals.ritual import Ritual, Run
from core.companion.converse.rituals.sources import Info
from core.companion.converse.rituals.step import SOURCES, Find, Step
from core.companion.converse.rituals.store import Change, RitualStore
from core.errors import ConflictError, CoreError, InputError, NotFound
from core.events.actor import Actor
from core.events.emitter import Events
from core.events.event import Event

Call = Callable[[str, Mapping[str, Any], Actor], ToolResult]
CLOSED = "This run is over: nothing was done."


@dataclass(frozen=True)
class Done:
    """`ran`: the tool ran now, by this call. `result` is for the eyes of whoever pressed, and stored nowhere.

    outcome: done, failed (the step stays open), already (somebody was quicker), busy (runs in another tab).
    """

    outcome: Literal["done", "failed", "already", "busy"]
    message: str
    run: Run
    result: ToolResult | None = None


class Runner:
    """Thread-safe; one per process. `call` runs a tool by the executor as an actor; it never raises."""

    def __init__(self, store: RitualStore, events: Events, find: Find, call: Call) -> None:
        self._store = store
        self._events = events
        self._find = find
        self._call = call

    def start(self, actor: Actor, ritual: Ritual, log: str | None = None) -> Run:
        """Begin a run, or join the one of today that is under way; one that was left on an earlier day is closed.

        `log`: the id of the press, so that the same press twice is one run. Errors: Forbidden, NotFound,
        ConflictError (it is paused or archived), DatabaseError.
        """
        require(actor, "run_rituals")
        log = log or str(uuid.uuid4())
        event = self._event("RitualStarted", actor, ritual.id, log, day=self._store.today(), total=len(ritual.steps))
        change = self._store.start(ritual.id, log, event)
        if change.outcome == "missing":
            raise NotFound("This routine is not there any more.")
        if change.run is None:
            raise ConflictError(f"This routine is {change.outcome}.", hint="Resume it first.")
        return change.run

    def available(self, step: Step) -> bool:
        """Whether this version can do it. Where not, the routine goes on without it."""
        if step.type == "info_display":
            return step.config["source"] in SOURCES
        if step.type == "checklist":
            return all(self._find(item["tool"]) is not None for item in step.items if "tool" in item)
        return self._find(step.tool or "") is not None

    def current(self, ritual: Ritual, run: Run) -> int | None:
        """The step that is next: not done, not skipped, available; None where there is none."""
        for pos, step in enumerate(ritual.steps[: run.total]):
            if run.state(pos).status not in ("done", "skipped") and self.available(step):
                return pos
        return None

    def reached(self, ritual: Ritual, run: Run) -> tuple[int, ...]:
        """The info steps that are to be shown now: those before the current step, and those at it."""
        found = []
        for pos, step in enumerate(ritual.steps[: run.total]):
            if step.type == "info_display":
                if self.available(step):
                    found.append(pos)
            elif self.available(step) and run.state(pos).status not in ("done", "skipped"):
                break
        return tuple(found)

    def shown(self, actor: Actor, ritual: Ritual, run: Run, infos: Mapping[int, Info]) -> Run:
        """Tick off the info steps that were just shown with their figures; the last one may complete the run.

        Errors: Forbidden, DatabaseError.
        """
        fresh = [pos for pos, info in infos.items() if info.known and run.state(pos).status not in ("done", "skipped")]
        if not run.open or not fresh:
            return run
        require(actor, "run_rituals")
        return self._mark(actor, run, fresh, "done").run or run

    def skip(self, actor: Actor, run: Run, pos: int) -> Run:
        """Leave a step out; it may be done later, and the run is not complete without it. Errors: as `shown`."""
        require(actor, "run_rituals")
        return self._mark(actor, run, [pos], "skipped").run or run

    def tick(self, actor: Actor, ritual: Ritual, run: Run, pos: int, item: int) -> Done:
        """Tick an item of a checklist, and run its tool if it has one. Errors: as `do`."""
        step = self._step(ritual, run, pos)
        if step.type != "checklist" or not 0 <= item < len(step.items):
            raise InputError("There is no such item.", field="item")
        one = step.items[item]
        tool = self._tool(one["tool"]) if "tool" in one else None
        return self._do(actor, ritual, run, pos, item, tool, dict(one.get("params") or {}))

    def do(
        self,
        actor: Actor,
        ritual: Ritual,
        run: Run,
        pos: int,
        given: Mapping[str, Any] | None = None,
        told: Mapping[str, Any] | None = None,
    ) -> Done:
        """Run the tool of a step, once, as this person. `given`: what was filled in; `told`: see `known_from`.

        Errors: InputError naming the field (nothing ran, the step stays open), Forbidden, NotFound (no such tool here),
        ConflictError (the run is over, or the routine was changed), DatabaseError.
        """
        step = self._step(ritual, run, pos)
        tool = self._tool(step.tool)
        known = known_from(step, pos, ritual.steps, run, told or {})
        params = arguments(step, tool, known, given or {})
        return self._do(actor, ritual, run, pos, None, tool, params)

    def finish(self, actor: Actor, ritual: Ritual, run: Run) -> Run:
        """Close the run: ended where every step was dealt with, else aborted. Errors: Forbidden, DatabaseError."""
        require(actor, "run_rituals")
        status = "ended" if self.current(ritual, run) is None else "aborted"
        event = self._event("RitualEnded", actor, run.ritual_id, run.id, day=run.day, status=status)
        change = self._store.end(run, status, event)
        if change.outcome == "stored":
            self._events.announce(event)
        return change.run or run

    def _do(
        self,
        actor: Actor,
        ritual: Ritual,
        run: Run,
        pos: int,
        item: int | None,
        tool: ModuleTool | None,
        params: Mapping[str, Any],
    ) -> Done:
        require(actor, "run_rituals")
        attempt = str(uuid.uuid4())
        taken = self._store.take(run, pos, item, attempt)
        if taken.run is None or taken.outcome in ("missing", "closed"):
            raise ConflictError(CLOSED, hint="Reload the page.")
        if taken.outcome == "done":
            return Done("already", "This was done already: nothing was run again.", taken.run)
        if taken.outcome == "running":
            return Done("busy", "This runs in another tab: nothing was run again.", taken.run)
        result = self._call(tool.name, params, actor) if tool else ToolResult(True, "")
        step = ritual.steps[pos]
        kept: dict[str, Any] = {"status": "done" if result.success else "failed"}
        if tool and result.success:
            found = {
                "length": length_of(step, params) if item is None else None,
                "taken": taken_of(tool, ritual.steps, pos, params, result) if item is None else None,
            }
            kept |= {name: value for name, value in found.items() if value not in (None, {})}
        event = self._completion(actor, run)
        try:
            put = self._store.put(run, pos, item, len(step.items), attempt, kept, event)
        except CoreError:
            if not (tool and result.success):
                raise
            # It ran, and that is what its caller has to hear; the row says that it is under way.
            return Done("done", f"{result.message} That it ran could not be noted in the log.", taken.run, result)
        self._announce(put, event)
        return Done("done" if result.success else "failed", result.message, put.run or taken.run, result)

    def _step(self, ritual: Ritual, run: Run, pos: int) -> Step:
        if run.ritual_id != ritual.id or run.version != ritual.version:
            raise ConflictError("This routine was changed meanwhile: nothing was done.", hint="Start it again.")
        if not 0 <= pos < min(run.total, len(ritual.steps)):
            raise InputError("There is no such step.", field="pos")
        return ritual.steps[pos]

    def _tool(self, name: str | None) -> ModuleTool:
        tool = self._find(name or "")
        if tool is None:
            raise NotFound("This version has no such tool: the step is unavailable.", hint="Go on without it.")
        return tool

    def _mark(self, actor: Actor, run: Run, positions: list[int], status: str) -> Change:
        event = self._completion(actor, run)
        change = self._store.mark(run, positions, status, event)
        self._announce(change, event)
        return change

    def _announce(self, change: Change, event: Event) -> None:
        if change.outcome == "stored" and change.run is not None and change.run.status == "completed":
            self._events.announce(event)

    def _completion(self, actor: Actor, run: Run) -> Event:
        """What is told if this is the last step."""
        facts = {"day": run.day, "completed": run.total, "total": run.total}
        return self._event("RitualCompleted", actor, run.ritual_id, run.id, **facts)

    def _event(self, type: str, actor: Actor, ritual_id: str, log_id: str, **facts: Any) -> Event:
        payload = {"ritual_id": ritual_id, "log_id": log_id, **facts}
        return self._events.prepare(type, payload, actor=actor, record_id=ritual_id, collection="companion_ritual_logs")
