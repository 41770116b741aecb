"""The look that is made also while nobody looks: every minute, in a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable

from core.health.changes import Changes
from core.health.daily import DailyChecks
from core.health.report import HealthReport
from core.health.service import HealthService
from core.health.timeline import Timeline

log = logging.getLogger(__name__)

EVERY_S = 60.0
# What differs from its settled state is looked at again sooner, so that an outage is told within two minutes.
AGAIN_S = 15.0
FIRST_S = 20.0  # the start of the application has better things to do
DAILY_AFTER_S = 180.0


class Monitor:
    """Keeps samples, tells settled changes, makes the daily checks. A look takes at most the report's own deadline
    and two short writes; the next one is counted from its end, so looks never pile up."""

    def __init__(
        self,
        health: HealthService,
        timeline: Timeline,
        changes: Changes,
        daily: DailyChecks,
        *,
        every_s: float = EVERY_S,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._health = health
        self.timeline = timeline
        self._changes = changes
        self.daily = daily
        self._every_s = every_s
        self._now = now
        self._began = now()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Look from now on, until `stop`. Once."""
        self._thread = threading.Thread(target=self._run, name="health monitor", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Idempotent. A look under way ends by its own deadline, and is waited for a moment only."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(timeout=2.0)

    def look(self) -> HealthReport:
        """One look, now."""
        report = self._health.report(max_age_s=5.0)
        self.timeline.note(report)
        self._changes.see(report)
        if (
            report.status != "down"
            and self._now() - self._began >= DAILY_AFTER_S
            and self.daily.due(self._health.daily)
        ):
            self.daily.run()
        return report

    def _run(self) -> None:
        wait = min(FIRST_S, self._every_s)
        while not self._over.wait(wait):
            try:
                self.look()
            except Exception as bug:
                # Not the message, which may quote rows. The next look is a new chance.
                log.error("the health monitor met %s", type(bug).__name__)
            wait = min(AGAIN_S, self._every_s) if self._changes.unsettled else self._every_s
