"""Verification names the rows whose hash is not that of their payload."""

from __future__ import annotations

from datetime import date

import psycopg
import pytest

from core.bootstrap import Core
from core.snapshots.verify import hash_of, verify
from tests.support.snapshots import row, upstream


def test_an_edited_row_is_named(core: Core, dsn: str) -> None:
    """A payload changed behind the hash is found; the others count as equal; a day can be asked alone."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        ids = upstream(sql, *(row(source_id=str(n)) for n in range(3)), row(day="2026-11-29"))
        sql.execute('update tips_daily_entity_snapshots set payload = \'{"text": "edited"}\' where id = %s', [ids[1]])
    rows: list[int] = []
    found = verify(core.db, progress=rows.append)
    assert (found.checked, found.equal, found.differ, found.without_hash) == (4, 3, 1, 0)
    [wrong] = found.differing
    assert (wrong.id, wrong.recomputed) == (ids[1], hash_of({"text": "edited"}))
    assert rows == [4]
    assert verify(core.db, day=date(2026, 11, 29)).checked == 1
    assert verify(core.db, dialog_key="another").checked == 0


def test_a_check_stops_it(core: Core, dsn: str) -> None:
    """Long runs can be stopped between pages."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        upstream(sql, row())

    def stop() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        verify(core.db, check=stop)


def test_a_payload_without_a_hash() -> None:
    """What no JavaScript could have hashed has none."""
    assert hash_of(10**400) is None
