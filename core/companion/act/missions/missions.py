"""The front of the missions: made, changed, run, cancelled; by hand, by the clock, in this process or another."""

from __future__ import annotations

import contextvars
import logging
import threading
import uuid
from collections.abc import Callable
from datetime import datetime
from zoneinfo import ZoneInfo

from core.access.roles import acting, require
from core.clock import Clock
from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.draft import MissionDraft, checked
from core.companion.act.missions.inputs import Sources
from core.companion.act.missions.mission import Iteration, Mission, Origin, RunStatus
from core.companion.act.missions.outcomes import MayRun, MissionBusy, Ran
from core.companion.act.missions.rule_plans import RULE_PLANS
from core.companion.act.missions.runner import Runner
from core.companion.act.missions.store import IterationPage, MissionStore
from core.errors import CoreError, InputError, NotFound
from core.events.actor import Actor, run_as, system
from core.events.emitter import Events

log = logging.getLogger(__name__)

STATES = ("active", "paused", "done", "archived", "deleted", "restored")
FEEDBACK_LIMIT = 2_000


class Missions:
    """One per process, thread-safe. Errors: DatabaseError."""

    def __init__(
        self,
        store: MissionStore,
        runner: Runner,
        sources: Sources,
        events: Events,
        clock: Clock,
        zone: ZoneInfo,
        stopping: threading.Event,
    ) -> None:
        self.store = store
        self.sources = sources
        self._runner = runner
        self._events = events
        self._clock = clock
        self.zone = zone
        self._owner = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._ticking: threading.Thread | None = None
        self._threads: list[threading.Thread] = []
        self._stop = stopping

    def list(self) -> tuple[Mission, ...]:
        """Active ones first, by their next run."""
        return self.store.list(self._clock.now())

    def get(self, id: str) -> Mission:
        """Errors: NotFound."""
        found = self.store.list(self._clock.now(), id=id) if _is_id(id) else ()
        if not found:
            raise NotFound("This mission is not there.", hint="It may have been deleted. Reload the page.")
        return found[0]

    def iterations(self, mission: str, *, limit: int = 20, offset: int = 0) -> IterationPage:
        """Newest first."""
        return self.store.iterations(mission, limit=limit, offset=offset)

    def upcoming(self, cadence: Cadence, number: int = 3) -> tuple[datetime, ...]:
        """The next runs, in the zone of the settings."""
        return tuple(at.astimezone(self.zone) for at in cadence.upcoming(self._clock.now(), self.zone, number))

    def save(self, actor: Actor, draft: MissionDraft) -> str:
        """Make or change one: created or changed. Errors: Forbidden, InputError naming the field, NotFound."""
        require(actor, "change_missions")
        draft = checked(draft, plans=RULE_PLANS, kinds=self.sources.kinds)
        self.sources.permit(actor, draft.inputs)
        now = self._clock.now()
        known = self.store.list(now, id=draft.id)
        type, more = ("MissionChanged", {}) if known else ("MissionCreated", {"planner": draft.planner})
        event = self._events.prepare(type, {"mission_id": draft.id, **more}, actor=actor, record_id=draft.id)
        outcome = self.store.save(draft, draft.cadence.next_after(now, self.zone), now, event)
        if outcome == "missing":
            raise NotFound("This mission was deleted.", hint="Make a new one.")
        self._events.announce(event)
        return outcome

    def change_state(self, actor: Actor, mission: Mission, state: str) -> bool:
        """Resume (active), pause, complete (done), archive, delete or restore; False where it is so already.

        Errors: Forbidden, InputError, NotFound.
        """
        require(actor, "change_missions")
        if state not in STATES:
            raise InputError("A mission is active, paused, done, archived, deleted or restored.", field="state")
        now = self._clock.now()
        facts = {"mission_id": mission.id, "new_state": state}
        event = self._events.prepare("MissionStateChanged", facts, actor=actor, record_id=mission.id)
        outcome, _ = self.store.state(mission.id, state, mission.cadence.next_after(now, self.zone), now, event)
        if outcome == "missing":
            raise NotFound("This mission is not there any more.", hint="Reload the page.")
        if outcome == "changed":
            self._events.announce(event)
        return outcome == "changed"

    def cancel(self, actor: Actor, iteration: str) -> bool:
        """Ask a run to stop at its next step; False where it is over. Errors: Forbidden."""
        require(actor, "change_missions")
        return self.store.cancel(iteration)

    def feedback(self, actor: Actor, iteration: Iteration, words: str) -> None:
        """What a person says of a run, for the next plan. Errors: Forbidden, NotFound."""
        require(actor, "change_missions")
        if not self.store.feedback(iteration.id, words.replace("\x00", "").strip()[:FEEDBACK_LIMIT]):
            raise NotFound("This run is not there any more.")

    def run(self, id: str, source: Origin = "foreground", *, due: bool = False) -> RunStatus:
        """Run it now, here, to its end. Errors: Forbidden, NotFound, MissionBusy."""
        mission, iteration, owner = self._claim(id, source, due)
        return self._work(mission, iteration, owner, source)

    def start(self, id: str) -> str:
        """Begin a run in a thread of its own; the id of the run. Errors: as `run`."""
        mission, iteration, owner = self._claim(id, "foreground", due=False)
        work = contextvars.copy_context().run
        self._spawn("mission", lambda: work(self._work, mission, iteration, owner, "foreground"))
        return iteration

    def run_due(self, source: Origin = "foreground", may: MayRun = lambda mission: None) -> tuple[Ran, ...]:
        """Everything that is due and that nobody runs, one after another; a failing one stops no other."""
        done: list[Ran] = []
        with run_as(system("mission-runner")):
            self.close_stale()
            for mission in self.store.list(self._clock.now(), due=True):
                if self._stop.is_set():
                    break
                why = may(mission)
                if why is not None:
                    done.append(Ran(mission, None, why))
                    continue
                try:
                    done.append(Ran(mission, self.run(mission.id, source, due=True)))
                except (MissionBusy, NotFound):
                    continue  # somebody was quicker
                except CoreError as failure:
                    log.warning("a mission was not run (%s)", failure.code)
                    done.append(Ran(mission, None, failure.what))
        return tuple(done)

    def tick(self) -> bool:
        """Run what is due in a thread of its own; False while the round before still works."""
        with self._lock:
            if self._ticking is not None and self._ticking.is_alive():
                return False
            self._ticking = self._thread("missions", self._round)
            self._ticking.start()
        return True

    def close_stale(self) -> int:
        """Close runs whose process is gone; how many."""
        closed = 0
        for lost in self.store.stale(self._clock.now()):
            error = {"name": "Lost", "message": "The process that ran it is gone.", "phase": lost.phase}
            facts = {"mission_id": lost.mission_id, "iteration_id": lost.id, "status": "failed", "phase": lost.phase}
            event = self._events.prepare(
                "MissionIterationFinished",
                {**facts, "error_class": "Lost"},
                actor=system("mission-runner"),
                record_id=lost.mission_id,
            )
            outcome = {"status": "failed", "error": error}
            if self.store.finish(lost.id, lost.owner, outcome, None, self._clock.now(), event):
                self._events.announce(event)
                closed += 1
        return closed

    def close(self, timeout_s: float = 10.0) -> None:
        """Runs here end at their next step; what they were stays due."""
        self._stop.set()
        with self._lock:
            threads = [t for t in (*self._threads, self._ticking) if t is not None and t.is_alive()]
        for thread in threads:
            if thread is not threading.current_thread():
                thread.join(timeout_s)

    def stop(self) -> None:
        """From a signal: without waiting."""
        self._stop.set()

    def pause(self, seconds: float) -> bool:
        """Wait so long; True where it was stopped meanwhile."""
        return self._stop.wait(seconds)

    def _claim(self, id: str, source: Origin, due: bool) -> tuple[Mission, str, str]:
        actor = acting()
        require(actor, "change_missions")
        mission, iteration = self.get(id), str(uuid.uuid4())
        owner = f"{self._owner}:{iteration}"
        outcome = self.store.claim(id, owner, iteration, source, due=due, now=self._clock.now())
        if outcome == "missing":
            raise NotFound("This mission is not there any more.", hint="Reload the page.")
        if outcome != "claimed":
            raise MissionBusy(outcome)
        facts = {"mission_id": id, "iteration_id": iteration, "source": source}
        self._events.emit("MissionRunStarted", facts, actor=actor, record_id=id)
        return mission, iteration, owner

    def _work(self, mission: Mission, iteration: str, owner: str, source: Origin) -> RunStatus:
        with run_as(system("mission-runner")):
            return self._runner.run(mission, iteration, owner, source)

    def _round(self) -> None:
        try:
            self.run_due()
        except CoreError as failure:
            log.warning("missions were not looked at (%s)", failure.code)

    def _spawn(self, name: str, work: Callable[[], object]) -> None:
        with self._lock:
            self._threads = [thread for thread in self._threads if thread.is_alive()]
            self._threads.append(self._thread(name, work))
            self._threads[-1].start()

    def _thread(self, name: str, work: Callable[[], object]) -> threading.Thread:
        return threading.Thread(target=work, name=name, daemon=True)


def _is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return False
    return True
