"""The daily run: who does it, once a day, and on a hosted database only after a person said yes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.services.snapshots import SnapshotService
from core.snapshots.schedule import schedule_of
from tests.support.snapshots import count, row, upstream

FAKE_CRON = """
create schema cron;
create table cron.job (jobid bigserial, jobname text, schedule text, command text);
create function cron.schedule(job_name text, schedule text, command text) returns bigint language sql as
    $$ insert into cron.job (jobname, schedule, command) values ($1, $2, $3) returning jobid $$;
create function cron.unschedule(job_id bigint) returns boolean language sql as
    $$ delete from cron.job where jobid = $1 returning true $$;
grant usage on schema cron to postgres;
grant all on cron.job to postgres;
grant all on sequence cron.job_jobid_seq to postgres;
"""


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def service(core: Core, *, embedded: bool, at: datetime | None = None) -> SnapshotService:
    return SnapshotService(core.db, core.events, FixedClock(at or datetime.now(UTC)), embedded=embedded)


def test_once_a_day_over_all_processes(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Nothing goes on the first day; on the next the first who asks does it, as the system; then the day is done."""
    upstream(sql, row(expires_at="2026-01-01T00:00:00Z"))
    assert service(core, embedded=True).daily.run_if_due() is None
    assert count(sql) == 1
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    one, other = (service(core, embedded=True, at=tomorrow) for _ in range(2))
    first = one.daily.run_if_due()
    assert first is not None
    assert first.deleted == 1
    assert other.daily.run_if_due() is None
    core.events.flush()
    [ran] = core.events.store.query(type="CleanupRan").rows
    assert ran.actor.kind == "system"
    assert service(core, embedded=True, at=tomorrow + timedelta(days=1)).daily.run_if_due() is not None


def test_the_ledger_is_tended_in_any_case(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Also where nobody has confirmed anything: our own table is caught up, and no snapshot goes."""
    upstream(sql, row(expires_at="2026-01-01T00:00:00Z"))
    sql.execute("truncate desk_snapshot_ledger")
    service(core, embedded=False).daily.tend()
    assert count(sql) == 1
    assert sql.execute("select count(*) from desk_snapshot_ledger").fetchone() == (1,)


def test_hosted_waits_for_a_person(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Nothing is deleted by itself before somebody confirmed a preview, and nothing after they took it back."""
    upstream(sql, row(expires_at="2026-01-01T00:00:00Z"))
    hosted = service(core, embedded=False)
    assert hosted.daily.state().by == "nobody"
    assert hosted.daily.run_if_due() is None
    assert count(sql) == 1
    state = hosted.confirm_schedule(True, hosted.preview())
    assert (state.by, state.confirmed_by) == ("app", "Local operator")
    assert hosted.confirm_schedule(False, hosted.preview()).by == "nobody"
    assert hosted.daily.run_if_due() is None
    hosted.confirm_schedule(True, hosted.preview())
    assert hosted.daily.run_if_due() is not None
    assert count(sql) == 0
    core.events.flush()
    assert len(core.events.store.query(type="CleanupScheduleChanged").rows) == 3


def test_where_pg_cron_is_installed(core: Core, sql: psycopg.Connection[Any]) -> None:
    """A yes schedules the job in the database and the app leaves it to that; a no takes it away. (pg_cron's own
    functions stood in for: the embedded server has none.)"""
    sql.execute(FAKE_CRON)
    try:
        hosted = service(core, embedded=False)
        assert hosted.confirm_schedule(True, hosted.preview()).by == "pg_cron"
        hosted.confirm_schedule(True, hosted.preview())
        jobs = sql.execute("select jobname, command from cron.job").fetchall()
        assert jobs == [("memory-desk-snapshot-cleanup", "call public.desk_run_cleanup()")]
        assert hosted.daily.run_if_due() is None
        hosted.confirm_schedule(False, hosted.preview())
        assert sql.execute("select count(*) from cron.job").fetchone() == (0,)
    finally:
        sql.execute("drop schema cron cascade")


def test_the_procedure_of_pg_cron(core: Core, sql: psycopg.Connection[Any]) -> None:
    """It does nothing unconfirmed, then deletes in batches with events of its own, once a day."""
    for n in range(3):
        upstream(sql, row(source_id=str(n), expires_at="2026-01-01T00:00:00Z"))
    sql.execute("call public.desk_run_cleanup()")
    assert count(sql) == 3
    hosted = service(core, embedded=False)
    hosted.confirm_schedule(True, hosted.preview())
    sql.execute("call public.desk_run_cleanup()")
    assert count(sql) == 0
    [deleted] = core.events.store.query(type="SnapshotsDeleted").rows
    assert deleted.payload["deleted"] == 3
    assert deleted.actor.display_name == "pg_cron"
    upstream(sql, row(expires_at="2026-01-01T00:00:00Z"))
    sql.execute("call public.desk_run_cleanup()")
    assert count(sql) == 1
    assert core.events.store.verify().ok


@pytest.mark.parametrize(
    ("answer", "embedded", "by", "asks"),
    [
        ({"confirmed": None, "cron": "unavailable"}, True, "app", False),
        ({"confirmed": None, "cron": "present"}, False, "nobody", True),
        ({"confirmed": {"at": "x"}, "cron": "not installed"}, False, "app", False),
        ({"confirmed": {"at": "x"}, "cron": "present"}, False, "pg_cron", False),
    ],
)
def test_who_does_it(answer: dict[str, Any], embedded: bool, by: str, asks: bool) -> None:
    """The four cases."""
    found = schedule_of(answer, embedded=embedded)
    assert (found.by, found.needs_confirmation) == (by, asks)
