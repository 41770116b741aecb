"""Events only for what changed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from core.events.catalogue import EVENTS
from core.health.changes import Changes
from core.health.report import Component, HealthReport, Status

AT = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


class Recorder:
    """Takes the place of Events; refuses what the catalogue would refuse."""

    def __init__(self) -> None:
        self.told: list[tuple[str, dict[str, Any]]] = []

    def emit(self, event_type: str, payload: dict[str, Any], *, actor: object) -> None:
        kept, unfit = EVENTS[event_type].fit(payload)
        assert not unfit
        self.told.append((event_type, kept))


def _report(minutes: int, destructive: dict[str, str] | None = None, **statuses: Status) -> HealthReport:
    at = AT + timedelta(minutes=minutes)
    everything: dict[str, Status] = {"auth": "ok", "schema": "ok", "migrations": "ok", **statuses}
    facts = {"destructive": destructive or {}}
    return HealthReport(tuple(Component(n, n, s, "", "", at, at, 1.0, facts) for n, s in everything.items()), at)


def _told(*reports: HealthReport) -> list[tuple[str, dict[str, Any]]]:
    recorder = Recorder()
    changes = Changes(recorder)  # type: ignore[arg-type]
    for report in reports:
        changes.tell(report)
    return recorder.told


def test_the_first_report_and_equal_ones_tell_nothing() -> None:
    """A command that looks once, or a page that polls, fills no table."""
    assert _told(_report(0, auth="down")) == []
    assert _told(_report(0), _report(1), _report(2)) == []
    assert _told(_report(0, auth="down"), _report(1, auth="down"), _report(2, auth="degraded")) == []


def test_a_fall_and_its_end() -> None:
    """Once each, with how long it lasted; an unanswered check between them is neither."""
    told = _told(
        _report(0), _report(1, auth="down"), _report(2, auth="unknown"), _report(3, auth="down"), _report(6), _report(7)
    )
    assert told == [
        ("HealthDegraded", {"component": "auth", "status": "down"}),
        ("HealthRecovered", {"component": "auth", "downtime_s": 300.0}),
    ]


def test_a_missing_schema_is_told_as_such() -> None:
    """Beside the fall itself."""
    assert [t for t, _ in _told(_report(0), _report(1, schema="down"))] == ["HealthDegraded", "NeedsMigrationDetected"]


def test_a_destructive_file_is_told_once() -> None:
    """When it turns up, not at each look."""
    file = {"2_wipe.sql": "drop table"}
    told = _told(_report(0), _report(1, file), _report(2, file))
    assert told == [("DestructiveMigrationFlagged", {"file": "2_wipe.sql", "statement": "drop-table"})]
