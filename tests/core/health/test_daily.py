"""The dear checks, against the embedded Supabase."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg

from core.clock import FixedClock
from core.errors import StatementTimeout
from core.health.daily import DailyChecks

if TYPE_CHECKING:
    import pytest

    from core.bootstrap import Core


def test_totals_and_recall_are_found_and_remembered(stored_core: Core, dsn: str) -> None:
    """Equal to the rows, recall of a small table 1; the report says so, also in the next process."""
    core = stored_core
    found = core.monitor.daily.run()
    assert found["totals"] == {"equal": True, "differing": 0} and found["usage"]["equal"] is True
    assert found["recall"]["recall"] == 1 and found["recall"]["sampled"] > 0
    report = core.health.report()
    assert report.component("rollups").facts["equal"] is True
    assert report.component("plan").facts["recall_sampled"] == 1
    assert core.health.daily is not None and core.health.daily["at"] == found["at"]


def test_a_difference_is_found(stored_core: Core, dsn: str) -> None:
    """Counted, and no key of a dialog is kept."""
    with psycopg.connect(dsn) as connection:
        connection.execute("update desk_dialogs set chunks = chunks + 1")
    found = stored_core.monitor.daily.run()
    assert found["totals"]["equal"] is False and found["totals"]["differing"] == 1 and "k1" not in str(found)
    verdict = stored_core.health.report().component("rollups")
    assert verdict.status == "degraded" and "Rebuild" in verdict.hint


def test_a_part_that_fails_is_left_out(stored_core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are kept."""
    real = type(stored_core.db).rpc

    def rpc(self: object, name: str, *args: object, **options: object) -> object:
        if name == "desk_recall_sample":
            raise StatementTimeout("too long")
        return real(self, name, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(type(stored_core.db), "rpc", rpc)
    found = stored_core.monitor.daily.run()
    assert "recall" not in found and found["totals"]["equal"]


def test_due_once_a_day(stored_core: Core) -> None:
    """Never made, or a day ago."""
    at = datetime(2026, 11, 30, 14, tzinfo=UTC)
    checks = DailyChecks(stored_core.db, FixedClock(at))
    assert checks.due(None) and checks.due({"at": (at - timedelta(hours=24)).isoformat()})
    assert not checks.due({"at": (at - timedelta(hours=23)).isoformat()})
