"""Recorded queries as material for a set: those with unjudged results first, those without left out."""

from __future__ import annotations

import json
from typing import Any

import psycopg

from tests.migrations.conftest import chunk, insert, value

SET = "00000000-0000-0000-0000-000000000009"
QUERY = "00000000-0000-0000-0000-000000000002"
GRADE = "select desk_judge(%s, null)"


def record(connection: psycopg.Connection[Any], ids: list[str], query: str) -> None:
    """A recorded search of dialog d1 that returned these chunks."""
    [made] = connection.execute(
        "insert into memory_retrievals (id, at, scope, dialog_key, query, query_hash, query_len, asked_limit, model,"
        " results) values (gen_random_uuid(), now(), 'dialog', 'd1', %s, 'h', 1, 12, 'test:768', %s) returning id",
        [query, len(ids)],
    ).fetchone() or [None]
    for rank, id in enumerate(ids, start=1):
        connection.execute(
            "insert into memory_retrieval_chunks (retrieval, rank, chunk_id, dialog_key, source, source_id, text,"
            " cosine, boost, score, tokens) select %s, %s, id, dialog_key, source, source_id, text, 0, 0, 0, 1"
            " from client_memory_chunks where id = %s",
            [made, rank, id],
        )


def test_recorded_queries_by_what_is_unjudged(dsn: str) -> None:
    """Counted on the latest search of each query; a query of the set leaves the list once all of it is judged."""
    with psycopg.connect(dsn, autocommit=True) as db:
        ids = insert(db, [chunk(source_id=f"m{n}", text=f"t{n}") for n in range(3)])
        db.execute("insert into desk_query_sets (id, name) values (%s, 'n')", [SET])
        db.execute(
            "insert into desk_queries (id, query_set, dialog_key, query) values (%s, %s, 'd1', 'known')", [QUERY, SET]
        )
        record(db, ids, "known")
        record(db, ids[:2], "new")
        found = value(db, "select desk_recorded_queries(%s)", SET)
        assert [(r["query"], r["unjudged"], r["query_id"]) for r in found["rows"]] == [
            ("known", 3, QUERY),
            ("new", 2, None),
        ]
        for id in ids:
            db.execute(GRADE, [json.dumps([{"query_id": QUERY, "chunk_id": id, "grade": 0}])])
        found = value(db, "select desk_recorded_queries(%s)", SET)
        assert [r["query"] for r in found["rows"]] == ["new"] and found["total"] == 1
