"""Snapshots as the existing service writes them: rows with every column that a test does not care about filled in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import psycopg

from core.canonical import content_hash


def row(dialog_key: str = "d1", day: str = "2026-11-30", **columns: Any) -> dict[str, Any]:
    """A note of that day; `expires_at` is ISO text or None, and what the table says where it is left out."""
    made: dict[str, Any] = {
        "dialog_key": dialog_key,
        "sync_date": day,
        "entity_type": "note",
        "source_role": "",
        "source_id": "1",
        "payload": {"text": "likes trains"},
        "ru_id": "ru-1",
        "tu_id": "tu-9",
        "text": None,
        **columns,
    }
    made.setdefault("content_hash", content_hash(made["payload"]))
    return made


def upstream(connection: psycopg.Connection[Any], *rows: dict[str, Any]) -> list[str]:
    """Insert as the service does, in one statement for rows alike; ids in the order of the rows."""
    ids: list[str] = []
    for each in rows:
        names = list(each)
        values = [json.dumps(each[n]) if n == "payload" else each[n] for n in names]
        places = ["%s::text::timestamptz" if n == "expires_at" else "%s" for n in names]
        statement = f"insert into tips_daily_entity_snapshots ({', '.join(names)}) values ({', '.join(places)})"
        found = connection.execute(f"{statement} returning id::text", values).fetchone()
        assert found
        ids.append(found[0])
    return ids


def count(connection: psycopg.Connection[Any], where: Sequence[str] = ()) -> int:
    condition = f" where {' and '.join(where)}" if where else ""
    found = connection.execute(f"select count(*) from tips_daily_entity_snapshots{condition}").fetchone()  # type: ignore[arg-type]
    assert found
    return int(found[0])
