"""The service: capture beside an ingest never fails it, pins have a reason, everything leaves its event."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import Forbidden, InputError
from core.events.actor import Actor, run_as
from core.memory.notices import Notice
from core.services.snapshots import CaptureResult
from tests.support.dialogs import body
from tests.support.snapshots import count, row, upstream

PAIR = {"ruId": "ru-1", "tuId": "tu-9"}


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def test_capture_emits_counts_only(core: Core) -> None:
    """The event holds key, day and counts; no text of anybody."""
    core.snapshots.capture({**PAIR, "notes": [{"text": "a planted secret", "date": "2026-11-30"}]})
    core.events.flush()
    [event] = core.events.store.query(type="SnapshotsCaptured").rows
    assert event.payload["by_type"] == {"note": 1}
    assert "planted" not in str(event.payload)


def test_beside_an_ingest(core: Core, sql: psycopg.Connection[Any]) -> None:
    """The same body gives snapshots; the second time nothing changes."""
    first, second = core.snapshots.capture_ingest(body("k1")), core.snapshots.capture_ingest(body("k1"))
    assert isinstance(first, CaptureResult)
    assert isinstance(second, CaptureResult)
    assert first.captured.inserted == count(sql) == second.captured.unchanged


def test_a_failed_capture_is_a_warning(core: Core, sql: psycopg.Connection[Any]) -> None:
    """With the table gone, or the body unusable, the ingest gets a notice and goes on."""
    sql.execute("alter table tips_daily_entity_snapshots rename to away")
    try:
        found = core.snapshots.capture_ingest(body("k1"))
        assert isinstance(found, Notice)
        assert found.field == "snapshots"
    finally:
        sql.execute("alter table away rename to tips_daily_entity_snapshots")
    assert isinstance(core.snapshots.capture_ingest({"conversationJson": 5}), Notice)
    assert isinstance(core.snapshots.capture_ingest({}), Notice)


def test_rows_of_upstream_are_named_in_a_warning(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Kept, counted, told."""
    key = core.snapshots.capture({**PAIR}).dialog_key
    day = f"{core.clock.now():%Y-%m-%d}"
    upstream(sql, row(key, day, entity_type="profile", source_role="ru", source_id="ru", payload={"name": "Ann"}))
    done = core.snapshots.capture({**PAIR, "profileRu": {"name": "Anna"}})
    assert (done.captured.kept, done.as_json()["written"]) == (1, 0)
    assert [w["field"] for w in done.as_json()["warnings"]] == ["snapshots"]


def test_an_ai_may_do_none_of_it(core: Core) -> None:
    """Permission is asked in the service, not only on the way to it."""
    someone = Actor("ai", "model", "model", mission_id="m", iteration_id="i", rationale="r")
    with run_as(someone):
        for act in (
            lambda: core.snapshots.cleanup(),
            lambda: core.snapshots.preview(),
            lambda: core.snapshots.verify(),
        ):
            with pytest.raises(Forbidden):
                act()


def test_negative_limit(core: Core) -> None:
    """Named, and nothing is deleted."""
    with pytest.raises(InputError) as refused:
        core.snapshots.cleanup(limit=-1)
    assert refused.value.field == "limit"


def test_compared_is_noted(core: Core) -> None:
    """Days and counts of a comparison."""
    day = core.clock.now().date()
    core.snapshots.diff("d1", day, day)
    core.snapshots.diff_days(day, day)
    core.events.flush()
    assert len(core.events.store.query(type="SnapshotsCompared").rows) == 2
    assert core.snapshots.catch_up() == 0
