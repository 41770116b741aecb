"""match_client_memory_chunks: the signature of the specification, and always min(limit, rows) right results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pytest

from tests.migrations.conftest import chunk, insert, value, vector

SOURCES = ("note", "profile", "photo", "summary", "conversation")
WEIGHTS = {"note": 0.18, "profile": 0.08, "photo": 0.05}
SIZES = (10, 100, 1_000, 10_000)
MATCH = "select * from match_client_memory_chunks(%s::vector, %s, null, 'reply', %s)"
# Quick to build: what counts is that it is there.
INDEX = "create index on client_memory_chunks using hnsw (embedding vector_cosine_ops) with (m=4, ef_construction=8)"
COPY = "copy client_memory_chunks (id, dialog_key, content_hash, source, text, embedding) from stdin"


@pytest.fixture(scope="module")
def memory(embedded: Any, worker_id: str) -> Iterator[str]:
    """Four dialogs of 10 to 10,000 chunks in one table with a vector index, which a planner would like to use."""
    from tests.support.database import clone, drop

    name = f"match_{worker_id}"
    clone(embedded.server, "template_desk", name)
    random = np.random.default_rng(3)
    with psycopg.connect(embedded.server.dsn(name), autocommit=True) as connection:
        connection.execute("drop index client_memory_chunks_embedding_idx")
        with connection.cursor() as cursor, cursor.copy(COPY) as copy:
            for size in SIZES:
                points = np.round(random.standard_normal((size, 3)), 3)
                for n, point in enumerate(points):
                    key = f"{size:05d}"
                    copy.write_row(
                        (f"{key}000-0000-4000-8000-{n:012d}", key, str(n), SOURCES[n % 5], f"text {n}", vector(*point))
                    )
        connection.execute("set maintenance_work_mem = '256MB'")
        connection.execute(INDEX)
        connection.execute("vacuum analyze client_memory_chunks")
    yield embedded.server.dsn(name)
    drop(embedded.server, name)


def exact(connection: psycopg.Connection[Any], query: str, key: str, limit: int) -> list[tuple[Any, ...]]:
    """(id, score) of a scan that no index of vectors can serve, in the order of the specification."""
    rows = connection.execute(
        "select id, 1 - (embedding <=> %s::vector) + case source when 'note' then 0.18 when 'profile' then 0.08"
        " when 'photo' then 0.05 else 0 end::float8 from client_memory_chunks where dialog_key = %s",
        [query, key],
    ).fetchall()
    return sorted(rows, key=lambda row: (-row[1], row[0]))[:limit]


@pytest.mark.parametrize("size", SIZES)
def test_equal_to_an_exact_scan(memory: str, size: int) -> None:
    """The first ten calls of a fresh connection, whose plans change on the way, with different limits."""
    random = np.random.default_rng(size)
    key = f"{size:05d}"
    with psycopg.connect(memory, autocommit=True) as connection:
        connection.execute("set role service_role")
        for n in range(10):
            query, limit = vector(*random.standard_normal(3)), (12, 24, 50)[n % 3]
            found = connection.execute(MATCH, [query, key, limit]).fetchall()
            assert len(found) == min(limit, size)
            assert [(row[0], row[3]) for row in found] == exact(connection, query, key, limit)


@pytest.mark.parametrize("size", SIZES)
def test_the_products_own_search_agrees(memory: str, size: int) -> None:
    """desk_search and the candidates give the same order and the same scores, to the last digit."""
    query, key = vector(0.3, -0.2, 0.9), f"{size:05d}"
    with psycopg.connect(memory, autocommit=True) as connection:
        connection.execute("set role service_role")
        found = [(str(row[0]), row[3]) for row in connection.execute(MATCH, [query, key, 12])]
        rows = value(connection, "select desk_search(%s, %s, null)", key, query)["rows"]
        assert rows == []  # nobody's model
        connection.execute("reset role")
        connection.execute("begin; update client_memory_chunks set embedding_model = 'm' where dialog_key = '00010'")
        if size == 10:
            weights = '{"note": 0.18, "profile": 0.08, "photo": 0.05}'
            rows = value(connection, "select desk_search(%s, %s, 'm', 12, %s)", key, query, weights)["rows"]
            assert [(r["id"], r["weighted_score"]) for r in rows] == found
        connection.execute("rollback")


def test_signature(db: psycopg.Connection[Any]) -> None:
    """Names, order, types and defaults as the existing service calls it, and its columns and no other."""
    arguments, result = db.execute(
        "select pg_get_function_arguments(oid), pg_get_function_result(oid) from pg_proc"
        " where proname = 'match_client_memory_chunks'"
    ).fetchone() or ("", "")
    assert arguments.replace("extensions.", "") == (
        "query_embedding vector, match_dialog_key text, match_client_id text DEFAULT NULL::text,"
        " match_compose_mode text DEFAULT NULL::text, match_count integer DEFAULT 12,"
        ' source_weights jsonb DEFAULT \'{"note": 0.18, "photo": 0.05, "profile": 0.08}\'::jsonb'
    )
    assert result == (
        "TABLE(id uuid, source text, text text, weighted_score double precision, note_date date,"
        " sent_at timestamp with time zone, direction text)"
    )


def match(db: psycopg.Connection[Any], **arguments: Any) -> list[str]:
    """Texts found in dialog d1 with default weights."""
    given = {"query_embedding": vector(1), "match_dialog_key": "d1", **arguments}
    names = ", ".join(f"{name} => %s" for name in given).replace(
        "query_embedding => %s", "query_embedding => %s::vector"
    )
    return [row[0] for row in db.execute(f"select text from match_client_memory_chunks({names})", list(given.values()))]


def test_filters(db: psycopg.Connection[Any]) -> None:
    """Rows of the client or of none; of the mode or of both; of this dialog alone."""
    insert(
        db,
        [
            chunk(text="mine", client_id="7", compose_mode="both"),
            chunk(text="nobody's", client_id=None, compose_mode="reply"),
            chunk(text="another's", client_id="8", compose_mode="both"),
            chunk("d2", text="elsewhere", client_id="7", compose_mode="both"),
        ],
    )
    assert sorted(match(db)) == ["another's", "mine", "nobody's"]
    assert sorted(match(db, match_client_id="7")) == ["mine", "nobody's"]
    assert sorted(match(db, match_client_id="7", match_compose_mode="reply")) == ["mine", "nobody's"]
    assert match(db, match_client_id="7", match_compose_mode="both") == ["mine"]


def test_weights(db: psycopg.Connection[Any]) -> None:
    """A boost per source; a source that is not named counts nothing, and none is named in {} or null."""
    insert(db, [chunk(source="note", text="note", embedding=vector(1, 0.5)), chunk(source="summary", text="summary")])
    assert match(db) == ["note", "summary"]
    assert match(db, source_weights='{"note": 0.01}') == ["summary", "note"]
    assert match(db, source_weights="{}") == ["summary", "note"]
    assert match(db, source_weights=None) == ["summary", "note"]
    assert match(db, source_weights='{"summary": -2}') == ["note", "summary"]


def test_ties_by_id(db: psycopg.Connection[Any]) -> None:
    """Equal scores stand in the order of their ids."""
    ids = insert(db, [chunk(text=f"t{n}") for n in range(40)])
    found = db.execute("select id::text from match_client_memory_chunks(%s::vector, 'd1', null, null, 30)", [vector(1)])
    assert [row[0] for row in found] == sorted(ids)[:30]


@pytest.mark.parametrize(("count", "rows"), [(None, 12), (0, 1), (-5, 1), (50, 50), (51, 50), (1000, 50)])
def test_limit(db: psycopg.Connection[Any], count: int | None, rows: int) -> None:
    """Clamped to 1..50, and 12 for none."""
    insert(db, [chunk(text=f"t{n}") for n in range(60)])
    assert len(match(db, match_count=count)) == rows


def test_vector_without_direction(db: psycopg.Connection[Any]) -> None:
    """A zero vector has no cosine; it counts 0 and never stands above the rest as NaN would."""
    insert(
        db, [chunk(text="zero", embedding=vector(0)), chunk(text="opposite", embedding=vector(-1)), chunk(text="near")]
    )
    assert match(db) == ["near", "zero", "opposite"]


def test_never_the_embedding(db: psycopg.Connection[Any]) -> None:
    """No function hands out a vector."""
    insert(db, [chunk(embedding=vector(0.123456))])
    ids = value(db, "select array_agg(id) from client_memory_chunks")
    answers = (
        value(db, "select row_to_json(m)::text from match_client_memory_chunks(%s::vector, 'd1') m", vector(1)),
        value(db, "select desk_search('d1', %s, 'test:768')::text", vector(1)),
        value(db, "select desk_candidates('d1', %s, 'test:768')::text", vector(1)),
        value(db, "select desk_match_across(%s, 'test:768')::text", vector(1)),
        value(db, "select desk_dialog_chunks('d1')::text"),
        value(db, "select desk_chunks_by_id(%s)::text", ids),
    )
    assert all("hello" in answer and "0.123456" not in answer for answer in answers)
