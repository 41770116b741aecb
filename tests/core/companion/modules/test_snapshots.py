"""Snapshots as a module: the day's syncs and expiries, the clean-up held to its preview."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.companion.act.proposals import ProposalStale
from tests.support.companion import Office, agent
from tests.support.snapshots import count, row, upstream

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MARK = {"entity_type": "daily_sync", "source_id": "daily-sync", "payload": {"completedAt": "x"}}
SOON = "2027-01-01T00:00:00Z"


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def office(core: Core) -> Office:
    """At noon of the present day, for functions that know only the database's own clock."""
    return Office(core, core.clock.now())


def expired(sql: psycopg.Connection[Any], *hours: float) -> None:
    """Rows that expired so many hours ago."""
    now = datetime.now(UTC)
    upstream(sql, *(row(day="2026-11-01", source_id=f"e{n}-{h}", expires_at=(now - timedelta(hours=h)).isoformat())
                    for n, h in enumerate(hours)))  # fmt: skip


def synced(sql: psycopg.Connection[Any], *days: tuple[str, date]) -> None:
    upstream(sql, *(row(key, f"{day}", **MARK, expires_at=SOON) for key, day in days))


def test_the_day(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Who was due and came, who was due and did not, what is expired and for how long, what soon will be."""
    today = office.desk.today()
    synced(sql, ("a", today - timedelta(1)), ("b", today - timedelta(2)), ("a", today), ("new", today))
    expired(sql, 1, 30)
    upstream(sql, row(day="2026-11-02", expires_at=(datetime.now(UTC) + timedelta(hours=5)).isoformat()))
    day = office.day()["snapshots"]
    assert (day["expected"], day["synced"], day["missing"], day["missing_yesterday"]) == (2, 1, 1, 1)
    assert (day["expired"], day["expired_24h"], day["expiring_24h"], day["synced_percent"]) == (2, 1, 1, 50.0)
    assert 29.9 < day["oldest_expired_age_h"] < 30.2


def test_what_no_row_keeps_is_noted(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Expired rows at the end of a day: the last note of the day stands, also after they are deleted."""
    today, metric = (
        office.desk.today(),
        next(m for m in office.modules["snapshots"].metrics if m.id == "snapshots.expired"),
    )
    assert metric.daily
    expired(sql, 1, 2)
    office.day()
    assert metric.daily(today, today) == {today: 2.0}
    sql.execute("delete from tips_daily_entity_snapshots")
    office.day()
    assert metric.daily(today, today) == {today: 2.0}, "noted again after a quarter of an hour only"
    office.clock.at += timedelta(minutes=16)
    later = office.desk.today()  # tomorrow, at the end of a day
    office.day()
    assert metric.daily(later, later) == {later: 0.0}


def test_days_of_syncs(office: Office, sql: psycopg.Connection[Any]) -> None:
    """A day counts where all that were due came; days without anything due do not."""
    today = office.desk.today()
    synced(
        sql,
        ("a", today - timedelta(3)),
        ("a", today - timedelta(2)),
        ("b", today - timedelta(2)),
        ("a", today - timedelta(1)),
    )
    streak = next(s for s in office.modules["snapshots"].streaks if s.id == "snapshots.daily_sync")
    assert streak.daily and (streak.grace, streak.comparison) == (0, "gte")
    found = streak.daily(today - timedelta(4), today - timedelta(1))
    assert [found.get(today - timedelta(n)) for n in (3, 2, 1)] == [0.0, 1.0, 0.0]
    percent = next(m for m in office.modules["snapshots"].metrics if m.id == "snapshots.synced_percent")
    assert percent.daily and percent.daily(today - timedelta(4), today - timedelta(1)) == {
        today - timedelta(2): 100.0, today - timedelta(1): 50.0,
    }  # fmt: skip


def test_cleanup_is_held_to_its_preview(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Another count is refused, a preview of 16 minutes ago too; what expires after the cutoff stays."""
    expired(sql, 1, 2, 3)
    upstream(sql, row(day="2026-11-02", expires_at=SOON))
    shown = office.call("preview_cleanup", actor=agent()).llm_data
    assert shown["expected_count"] == 3
    asked = {"preview_id": shown["preview_id"], "expected_count": 3}
    for wrong in ({"expected_count": 2}, {"preview_id": "x"}, {"preview_id": "00000000-0000-4000-8000-000000000000"}):
        assert not office.call("run_cleanup", **{**asked, **wrong}).success
    sql.execute("update tips_daily_entity_snapshots set expires_at = %s where source_id like 'e0%%'", [SOON])
    assert "counts differ" in office.call("run_cleanup", **asked).message
    expired(sql, 4)
    office.clock.at += timedelta(minutes=16)
    assert "older than 15 minutes" in office.call("run_cleanup", **asked).message
    office.clock.at -= timedelta(minutes=2)
    assert count(sql) == 5
    assert office.call("run_cleanup", **asked).data["deleted"] == 3
    assert count(sql, ["expires_at = '2027-01-01'"]) == count(sql) == 2


def test_a_later_cutoff_is_none(office: Office) -> None:
    """Neither the future nor a time without a zone nor nonsense."""
    for cutoff in ("2999-01-01T00:00:00Z", "2026-11-30T12:00:00", "yesterday", ""):
        assert not office.call("preview_cleanup", cutoff=cutoff).success


def test_an_ai_proposes_a_cleanup(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Approved within the day rows go once, in the name of the AI; where the count changed, nothing goes."""
    expired(sql, 1, 2)
    ids = []
    for _ in range(2):
        shown = office.call("preview_cleanup", actor=agent()).llm_data
        asked = {"preview_id": shown["preview_id"], "expected_count": shown["expected_count"]}
        ids.append(office.call("run_cleanup", actor=agent(), **asked).data["proposal_id"])
    assert ids[0] != ids[1]
    office.clock.at += timedelta(hours=20)
    done = office.act.proposals.approve(ids[0])
    assert done.succeeded and done.result and done.result["data"]["deleted"] == 2 and count(sql) == 0
    office.core.events.flush()
    (ran,) = office.core.events.store.query(type="CleanupRan").rows
    assert ran.actor == agent()
    with pytest.raises(ProposalStale):
        office.act.proposals.approve(ids[1])
    expired(sql, 5)
    with pytest.raises(ProposalStale):
        office.act.proposals.approve(ids[1])
    assert count(sql) == 1


def test_a_model_sees_no_payload(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Names of fields, counts and days; the operator sees the rest."""
    profile = {"entity_type": "profile", "source_role": "ru", "source_id": "ru", "expires_at": SOON}
    upstream(
        sql,
        row("d", "2026-11-28", **profile, payload={"name": "planted-name", "city": "planted-city"}),
        row("d", "2026-11-29", **profile, payload={"name": "planted-other"}),
        row("d", "2026-11-29", source_id="n", text="planted-text", payload={"text": "planted-text"}, expires_at=SOON),
    )
    for name, params in (
        ("compare_snapshots", {"date_a": "2026-11-28", "date_b": "2026-11-29"}),
        ("list_snapshots", {}),
    ):
        result = office.call(name, actor=agent(), dialog_key="d", **params)
        assert result.success and "planted" in json.dumps(result.data, default=str)
        assert "planted" not in json.dumps(result.llm_data) + result.message
    found = office.call("compare_snapshots", dialog_key="d", date_a="2026-11-28", date_b="2026-11-29", type="profile")
    assert {f["field"] for f in found.llm_data["fields"]} == {"name", "city"}
    assert not office.call("compare_snapshots", dialog_key="d", date_a="2026-02-30", date_b="2026-11-29").success


def test_a_missed_sync_is_told_once(office: Office, sql: psycopg.Connection[Any]) -> None:
    """Of yesterday, whoever looks and how often."""
    from core.companion.modules.snapshots import tell_missed

    today = office.desk.today()
    assert not tell_missed(office.desk)
    synced(sql, ("a", today - timedelta(2)), ("b", today - timedelta(2)), ("a", today - timedelta(1)))
    assert [tell_missed(office.desk), tell_missed(office.desk)] == [True, False]
    (event,) = office.core.events.store.query(type="DailySyncMissed").rows
    assert (event.payload["missing"], event.payload["expected"], event.actor.kind) == (1, 2, "system")
