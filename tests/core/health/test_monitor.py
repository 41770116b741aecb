"""The look that is made while nobody looks."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import psycopg

from core.health.changes import Changes
from core.health.daily import DailyChecks
from core.health.monitor import Monitor
from core.health.timeline import Timeline

if TYPE_CHECKING:
    from core.bootstrap import Core


def _monitor(core: Core, **options: object) -> Monitor:
    parts = (
        core.health,
        Timeline(core.db, core.clock),
        Changes(core.events, core.db),
        DailyChecks(core.db, core.clock),
    )
    return Monitor(*parts, **options)  # type: ignore[arg-type]


def test_a_look_leaves_samples_and_no_event(stored_core: Core, dsn: str) -> None:
    """One sample per component and one of all together; a state that stays is no news."""
    monitor = _monitor(stored_core)
    report = monitor.look()
    with psycopg.connect(dsn) as connection:
        names = {row[0] for row in connection.execute("select component from desk_health_checks").fetchall()}
    assert names == {c.name for c in report.components} | {"overall"}
    assert stored_core.events.flush() and not stored_core.events.store.query(type="HealthDegraded").rows


def test_the_daily_checks_come_by_themselves(stored_core: Core) -> None:
    """Not in the first minutes of a process, and then once."""
    clock = [0.0]
    monitor = _monitor(stored_core, now=lambda: clock[0])
    monitor.look()
    assert stored_core.health.daily is None
    clock[0] = 200.0
    monitor.look()
    stored_core.health.report()
    assert stored_core.health.daily is not None
    at = stored_core.health.daily["at"]
    monitor.look()
    stored_core.health.report()
    assert stored_core.health.daily["at"] == at


def test_it_runs_until_it_is_stopped(stored_core: Core) -> None:
    """A look that fails is not its end; `stop` may come twice."""
    monitor = _monitor(stored_core, every_s=0.05)
    looks = threading.Semaphore(0)

    def look() -> None:
        looks.release()
        raise RuntimeError("a bug")

    monitor.look = look  # type: ignore[method-assign,assignment]
    monitor.start()
    assert looks.acquire(timeout=5) and looks.acquire(timeout=5)
    began = time.monotonic()
    monitor.stop()
    monitor.stop()
    assert time.monotonic() - began < 2.5


def test_green_never_while_reads_hang(stored_core: Core, dsn: str) -> None:
    """Case 20: the chunk table locked; the look ends by its deadline, is kept, and all recovers by itself."""
    monitor = _monitor(stored_core)
    stored_core.health._deadline_s = 1.5
    with psycopg.connect(dsn) as holder:
        holder.execute("lock table client_memory_chunks in access exclusive mode")
        began = time.monotonic()
        report = monitor.look()
        assert time.monotonic() - began < 8.0
        assert report.status == "down" and report.component("database").status == "down"
        assert report.component("auth").status == "ok"
    stored_core.health._deadline_s = 4.0
    time.sleep(1.0)
    assert stored_core.health.report().component("database").status == "ok"
    found = monitor.timeline.history(24)
    assert any(s.component == "database" and s.status == "down" and s.code for s in found.segments)
