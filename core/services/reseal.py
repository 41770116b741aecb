"""Sealing what was written before there was a key, or under an older one. Can be stopped and run again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from core.access import permit
from core.db.client import Database
from core.db.sealing import COLUMNS, Sealer
from core.errors import InputError

BATCH = 200


def reseal(db: Database, sealer: Sealer, progress: Callable[[str, int], None] = lambda *_: None) -> dict[str, int]:
    """Table -> how many values were sealed anew; a second run finds none.

    Errors: Forbidden, InputError without a key, DatabaseError.
    """
    permit("change_access")
    if not sealer.active:
        raise InputError("There is no key to seal with.", hint="Set MEMORY_DESK_DATA_KEY.")
    done = {}
    for table, columns in COLUMNS.items():
        done[table] = 0
        for rows in db.pages(table, ",".join(("id", *columns)), size=BATCH, sealed=True):
            changes = [change for row in rows for column in columns if (change := _change(sealer, row, column))]
            if changes:
                given = {"p_table": table, "p_changes": changes}
                done[table] += int(db.rpc("companion_reseal", given, read=False, returns=dict, sealed=True)["changed"])
                progress(table, done[table])
    return done


def _change(sealer: Sealer, row: Any, column: str) -> dict[str, Any] | None:
    before = row[column]
    after = [sealer.seal(one) for one in before] if isinstance(before, list) else sealer.seal(before)
    return None if after == before else {"id": row["id"], "column": column, "before": before, "after": after}
