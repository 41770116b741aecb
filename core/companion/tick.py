"""The companion's pulse: one thread per process that does small steps at their intervals."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass

from core.db.client import Database
from core.errors import CoreError, SchemaMismatch
from core.events.actor import run_as, system

log = logging.getLogger(__name__)

FIRST_S = 30.0  # the first pages come before the first step
LEASE_S = 300.0
LOOK_S = 1.0
AWAY_S = 30.0  # after a failure of the database


@dataclass
class Step:
    """Something to do every so often; `shared`: by one process at a time, at that interval among all of them."""

    name: str
    every_s: float
    run: Callable[[], object]
    shared: bool
    due_at: float


class Tick:
    """Thread-safe. Steps are registered before or after the start; each runs as the system, and alone."""

    def __init__(self, db: Database, *, now: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._now = now
        self._owner = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._steps: dict[str, Step] = {}
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def register(self, name: str, every_s: float, step: Callable[[], object], *, shared: bool = True) -> None:
        """Do `step` every `every_s` seconds, from a while after the start on. Errors: ValueError for a name taken.

        What it raises is logged and the step runs again in its time; others are not held up by it for longer than
        it takes.
        """
        with self._lock:
            if name in self._steps:
                raise ValueError(f"there is a step {name!r} already")
            self._steps[name] = Step(name, every_s, step, shared, self._now() + FIRST_S)

    def start(self) -> None:
        """Begin; a second call changes nothing."""
        with self._lock:
            if self._thread is None and not self._stop.is_set():
                self._thread = threading.Thread(target=self._work, name="companion tick", daemon=True)
                self._thread.start()

    def run_due(self) -> list[str]:
        """Do what is due now, in this thread: the names of the steps that ran here."""
        with self._lock:
            due = [step for step in self._steps.values() if step.due_at <= self._now()]
        return [step.name for step in due if not self._stop.is_set() and self._run(step)]

    def close(self, timeout_s: float = 10.0) -> None:
        """Stop after the step in hand."""
        self._stop.set()
        with self._lock:  # a start that is under way is over then
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_s)

    @property
    def stopping(self) -> bool:
        """For long steps, which end early then."""
        return self._stop.is_set()

    def _work(self) -> None:
        while not self._stop.wait(LOOK_S):
            self.run_due()

    def _run(self, step: Step) -> bool:
        step.due_at = self._now() + step.every_s
        try:
            if step.shared and not self._claim(step):
                return False
            try:
                with run_as(system("projection")):
                    step.run()
            finally:
                if step.shared:
                    self._db.rpc(
                        "companion_free_lease", {"p_name": f"tick:{step.name}", "p_owner": self._owner}, read=False
                    )
            return True
        except SchemaMismatch:
            step.due_at = self._now() + max(step.every_s, 10 * AWAY_S)  # the migration is still to come
        except CoreError as failure:
            step.due_at = self._now() + max(step.every_s, AWAY_S)
            log.warning("the step %s was not done (%s)", step.name, failure.code)
        except Exception as bug:
            log.error("the step %s failed: %s at %s", step.name, type(bug).__name__, _place(bug))
        return False

    def _claim(self, step: Step) -> bool:
        params = {
            "p_name": f"tick:{step.name}",
            "p_owner": self._owner,
            # A little less than the interval: the same process is never late by a breath, and skips a round.
            "p_every_s": step.every_s * 0.9,
            "p_lease_s": max(LEASE_S, step.every_s),
        }
        return bool(self._db.rpc("companion_claim_lease", params, read=False, returns=dict)["held"])


def _place(bug: Exception) -> str:
    step, place = bug.__traceback__, "?"
    while step is not None:
        place = f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}"
        step = step.tb_next
    return place
