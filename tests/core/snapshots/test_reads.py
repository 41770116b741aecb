"""Diffs, coverage and lists over the real database."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import date
from typing import Any

import jsonpatch
import psycopg
import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.snapshots.reads import SnapshotReads
from tests.support.snapshots import row, upstream

FIVE = [{"city": None}, {}, {"city": ""}, {"city": {"name": None}}, {"city": {}}]
D1, D2 = date(2026, 11, 29), date(2026, 11, 30)


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def reads(core: Core) -> SnapshotReads:
    return core.snapshots.reads


def test_two_days_of_one_dialog(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Added, removed, changed and unchanged, by identity then hash; the marker and other dialogs are left out."""
    upstream(
        sql,
        row(day="2026-11-29", source_id="same"),
        row(day="2026-11-29", source_id="gone"),
        row(day="2026-11-29", source_id="edited", payload={"text": "five"}),
        row(day="2026-11-29", entity_type="daily_sync", source_id="daily-sync", payload={"completedAt": "1"}),
        row(source_id="same"),
        row(source_id="new"),
        row(source_id="edited", payload={"text": "six"}),
        row("other", source_id="x"),
        row(entity_type="daily_sync", source_id="daily-sync", payload={"completedAt": "2"}),
    )
    found = reads.diff("d1", D1, D2)
    assert [(r.source_id, r.change) for r in found.rows] == [
        ("edited", "changed"),
        ("gone", "removed"),
        ("new", "added"),
    ]
    assert (found.added, found.removed, found.changed, found.unchanged) == (1, 1, 1, 1)
    assert [f.as_json() for f in found.rows[0].fields] == [{"op": "replace", "path": "/text", "value": "six"}]
    same = reads.diff("d1", D2, D2)
    assert (same.rows, same.unchanged) == ((), 3)
    cut = reads.diff("d1", D1, D2, limit=1)
    assert cut.truncated
    assert len(cut.as_json()["warnings"]) == 1


def test_a_day_that_was_not_kept_is_not_an_empty_one(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """The answer says so instead of letting everything look added."""
    upstream(sql, row())
    found = reads.diff("d1", D1, D2)
    assert (found.from_rows, found.added) == (0, 1)
    assert [w["field"] for w in found.as_json()["warnings"]] == ["from"]


def test_null_and_missing(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Case 11: through the database, for each pair of neighbours, with fields that give the newer payload."""
    for n, payload in enumerate(FIVE):
        upstream(sql, row(day=f"2026-11-{20 + n}", entity_type="profile", source_role="ru", payload=payload))
    for (a, before), (b, after) in itertools.pairwise(enumerate(FIVE)):
        found = reads.diff("d1", date(2026, 11, 20 + a), date(2026, 11, 20 + b))
        [change] = found.rows
        assert found.unchanged == 0
        assert jsonpatch.apply_patch(before, change.as_json()["fields"]) == after


def test_hash_and_payload_that_disagree(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Different hashes over equal payloads are changed, and a note says why there are no fields."""
    upstream(sql, row(day="2026-11-29", content_hash="a"), row(content_hash="b"))
    [change] = reads.diff("d1", D1, D2).rows
    assert change.fields == ()
    assert "one of the two hashes is wrong" in change.as_json()["note"]


def test_only_code_points(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Case 13: the entry says that the two look the same."""
    upstream(sql, row(day="2026-11-29", payload={"name": "Zoë"}), row(payload={"name": "Zoe\u0308"}))
    [change] = reads.diff("d1", D1, D2).rows
    assert change.only_code_points
    assert "code points" in change.note


def test_all_dialogs(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Totals over every dialog, those with most differences first, dialogs without any left out; paged."""
    for n in range(3):
        upstream(sql, *(row(f"d{n}", source_id=str(i)) for i in range(n)))
    upstream(sql, row("same", day="2026-11-29"), row("same"))
    found = reads.diff_days(D1, D2)
    assert [(r.dialog_key, r.added) for r in found.rows] == [("d2", 2), ("d1", 1)]
    assert (found.total, found.dialogs, found.added, found.unchanged, found.from_rows) == (2, 3, 3, 1, 1)
    assert [r.dialog_key for r in reads.diff_days(D1, D2, limit=1, offset=1).rows] == ["d1"]


def test_coverage(core: Core, sql: psycopg.Connection[Any]) -> None:
    """A sync is due for three days after one was completed; then the dialog is no longer expected. Expired rows
    still count, from the ledger."""
    from datetime import UTC, datetime

    reads = SnapshotReads(core.db, FixedClock(datetime(2026, 11, 30, 12, tzinfo=UTC)))
    marker = {"entity_type": "daily_sync", "source_id": "daily-sync", "payload": {"completedAt": "x"}}
    upstream(sql, row(day="2026-11-24"), row(day="2026-11-24", **marker), row("late", day="2026-11-29", **marker))
    sql.execute("delete from tips_daily_entity_snapshots where dialog_key = 'd1'")
    found = reads.calendar(date(2026, 11, 23), date(2026, 11, 30))
    assert found.total == 2
    d1, late = found.rows
    assert [d.status for d in d1.days] == ["unknown", "complete", *["missing"] * 3, *["unknown"] * 3]
    assert (d1.days[1].entities, d1.days[1].stored) == (1, 0)
    assert [d.status for d in late.days][-2:] == ["complete", "due"]
    totals = {d.day: d for d in reads.days(date(2026, 11, 23), date(2026, 11, 30))}
    assert totals["2026-11-23"].dialogs is None
    assert (totals["2026-11-24"].complete, totals["2026-11-25"].missing) == (1, 1)
    assert [r.dialog_key for r in reads.calendar(date(2026, 11, 23), date(2026, 11, 30), "late").rows] == ["late"]


def test_entities_of_a_day(reads: SnapshotReads, sql: psycopg.Connection[Any]) -> None:
    """Filters by day, dialog, type and state; pages without a row twice or never."""
    for n in range(60):
        upstream(sql, row(f"d{n % 3}", source_id=str(n), entity_type="note" if n % 2 else "dialog"))
    upstream(sql, row("e", expires_at="2026-01-01T00:00:00Z"), row("n", expires_at=None))
    ids = [r.id for offset in (0, 25, 50) for r in reads.entities(D2, limit=25, offset=offset).rows]
    assert len(ids) == len(set(ids)) == 62
    assert reads.entities(D2, "d1").total == 20
    assert reads.entities(D2, entity_type="dialog").by_type == {"dialog": 30}
    assert [r.dialog_key for r in reads.entities(state="expired").rows] == ["e"]
    assert [r.dialog_key for r in reads.entities(state="without_expiry").rows] == ["n"]
    one = reads.get(ids[0])
    assert one is not None
    assert one.payload == {"text": "likes trains"}
    assert reads.get("00000000-0000-0000-0000-000000000000") is None
