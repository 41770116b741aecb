"""A pin has a reason, an actor and an end; what is refused is named."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import InputError, NotFound
from tests.support.snapshots import row, upstream


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def test_pin_and_unpin(core: Core, sql: psycopg.Connection[Any]) -> None:
    """A pin has a reason, an actor and an end; both ways leave an event in the same transaction."""
    [snapshot] = upstream(sql, row())
    core.snapshots.pin(snapshot, "  a complaint  ", core.clock.now() + timedelta(days=90))
    [pinned] = core.snapshots.reads.entities(state="pinned").rows
    assert (pinned.pin_reason, (pinned.pin_actor or {})["display_name"]) == ("a complaint", "Local operator")
    core.snapshots.unpin(snapshot)
    assert core.snapshots.reads.entities(state="pinned").total == 0
    kinds = [e.type for e in core.events.store.query(app_id="snapshots").rows]
    assert kinds == ["SnapshotUnpinned", "SnapshotPinned"]
    with pytest.raises(NotFound):
        core.snapshots.unpin(snapshot)


def test_pins_that_are_refused(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Without a reason, too long, in the past, of a row that is not there or of no id at all."""
    [snapshot] = upstream(sql, row())
    soon = core.clock.now() + timedelta(days=1)
    for reason, until, field in (
        ("  ", soon, "reason"),
        ("x", core.clock.now() + timedelta(days=91), "until"),
        ("x", core.clock.now() - timedelta(days=1), "until"),
    ):
        with pytest.raises(InputError) as refused:
            core.snapshots.pin(snapshot, reason, until)
        assert refused.value.field == field
    for unknown in ("00000000-0000-0000-0000-000000000000", "no id"):
        with pytest.raises(NotFound):
            core.snapshots.pin(unknown, "x", soon)
