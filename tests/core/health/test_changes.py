"""Events only for what changed and stayed so."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events.catalogue import EVENTS
from core.health.changes import Changes
from core.health.report import Component, HealthReport, Status
from core.health.settle import Change

if TYPE_CHECKING:
    from core.local.server import Endpoint

AT = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


class Recorder:
    """Takes the place of Events; refuses what the catalogue would refuse."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []
        self.overall: list[Change] = []

    def emit(self, event_type: str, payload: dict[str, Any], *, actor: object) -> None:
        kept, unfit = EVENTS[event_type].fit(payload)
        assert not unfit
        self.told.append((event_type, kept))

    def tell(self, change: Change, report: HealthReport) -> None:
        self.overall.append(change)


def _report(minutes: float, destructive: dict[str, str] | None = None, **statuses: Status) -> HealthReport:
    at = AT + timedelta(minutes=minutes)
    everything: dict[str, Status] = {"auth": "ok", "database": "ok", "schema": "ok", "migrations": "ok", **statuses}
    facts = {"destructive": destructive or {}}
    return HealthReport(tuple(Component(n, n, s, "", "", at, at, 1.0, facts) for n, s in everything.items()), at)


def _told(*reports: HealthReport, db: Database | None = None) -> Recorder:
    recorder = Recorder()
    changes = Changes(recorder, db, recorder.tell)  # type: ignore[arg-type]
    for report in reports:
        changes.see(report)
    return recorder


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


def test_the_first_report_and_equal_ones_tell_nothing() -> None:
    """A start in trouble is a mark, not news."""
    assert _told(*(_report(n, auth="down") for n in range(5))).told == []


def test_a_fall_and_its_end() -> None:
    """Once each, with how long it lasted, counted from the first look to the first good one."""
    looks = [_report(0), *(_report(n, auth="down") for n in range(1, 6)), *(_report(n) for n in range(6, 12))]
    recorder = _told(*looks)
    assert recorder.told == [
        ("HealthDegraded", {"component": "auth", "status": "down"}),
        ("HealthRecovered", {"component": "auth", "downtime_s": 300.0}),
    ]
    assert [(c.previous, c.status) for c in recorder.overall] == [("ok", "down"), ("down", "ok")]


def test_an_hour_of_back_and_forth_tells_nothing() -> None:
    """Case 19: a check around its limit, and once no answer at all."""
    turns: list[Status] = ["ok", "degraded"] * 30
    turns[31] = "unknown"
    recorder = _told(*(_report(n, schema=status) for n, status in enumerate(turns)))
    assert recorder.told == [] and recorder.overall == []


def test_worse_among_bad_is_no_second_fall() -> None:
    """Degraded, then down: one event; the overall state is told both times."""
    looks = [
        _report(0),
        *(_report(n, auth="degraded") for n in range(1, 5)),
        *(_report(n, auth="down") for n in range(5, 9)),
    ]
    recorder = _told(*looks)
    assert [t for t, _ in recorder.told] == ["HealthDegraded"]
    assert [c.status for c in recorder.overall] == ["degraded", "down"]


def test_a_missing_schema_is_told_as_such() -> None:
    """Beside the fall itself."""
    told = _told(_report(0), *(_report(n, schema="down") for n in range(1, 4))).told
    assert [t for t, _ in told] == ["HealthDegraded", "NeedsMigrationDetected"]


def test_a_destructive_file_is_told_once() -> None:
    """When it turns up, not at each look."""
    file = {"2_wipe.sql": "drop table"}
    told = _told(_report(0), _report(1, file), _report(2, file)).told
    assert told == [("DestructiveMigrationFlagged", {"file": "2_wipe.sql", "statement": "drop-table"})]


def test_of_two_processes_one_tells(db: Database) -> None:
    """Both see the same fall; the database gives it to the first."""
    recorders = [Recorder(), Recorder()]
    both = [Changes(r, db, r.tell) for r in recorders]  # type: ignore[arg-type]
    for report in [_report(0), *(_report(n, auth="down") for n in range(1, 4))]:
        for changes in both:
            changes.see(report)
    assert [len(r.told) for r in recorders] == [1, 0]
    assert [len(r.overall) for r in recorders] == [1, 0]


def test_a_restart_neither_hides_nor_repeats(db: Database) -> None:
    """The next process knows what was told, and tells the end of it."""
    _told(_report(0), *(_report(n, auth="down") for n in range(1, 4)), db=db)
    again = _told(*(_report(n, auth="down") for n in range(10, 14)), db=db)
    assert again.told == []
    end = _told(*(_report(n) for n in range(20, 25)), db=db)
    assert [(t, p["downtime_s"]) for t, p in end.told] == [("HealthRecovered", 19 * 60.0)]


def test_without_the_database_it_is_told_all_the_same(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """The outage of the database itself, and its end, which the database never heard of."""
    recorder = Recorder()
    changes = Changes(recorder, db, recorder.tell)  # type: ignore[arg-type]
    changes.see(_report(0))

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("away")

    with monkeypatch.context() as away:
        away.setattr(Database, "rpc", gone)
        for n in range(1, 4):
            changes.see(_report(n, database="down"))
    for n in range(4, 9):
        changes.see(_report(n))
    assert [t for t, _ in recorder.told] == ["HealthDegraded", "HealthRecovered"]
    assert [c.status for c in recorder.overall] == ["down", "ok"]
