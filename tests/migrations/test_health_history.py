"""The SQL of the health history, of the plan and the recall, and of who may call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

FUNCTIONS = (
    "desk_note_health", "desk_settle_health", "desk_health_spans", "desk_health_history", "desk_health_uptime",
    "desk_match_plan", "desk_recall_sample", "desk_health_counts", "desk_keep_daily_check", "desk_activity",
    "companion_verify_slice", "companion_verify_chain", "desk_photos_without_text",
)  # fmt: skip


@pytest.fixture
def db(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _one(db: psycopg.Connection[Any], query: str, *params: Any) -> Any:
    row = db.execute(query, params).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_only_the_service_role_may(db: psycopg.Connection[Any], name: str) -> None:
    """One function of that name, with a comment; not for anon, not for authenticated."""
    rows = db.execute(
        "select has_function_privilege('anon', oid, 'execute'),"
        " has_function_privilege('authenticated', oid, 'execute'),"
        " has_function_privilege('service_role', oid, 'execute'), obj_description(oid) is not null"
        " from pg_proc where proname = %s",
        (name,),
    ).fetchall()
    assert rows == [(False, False, True, True)]


@pytest.mark.parametrize("table", ["desk_health_checks", "desk_health_states"])
def test_nobody_else_reads_the_tables(db: psycopg.Connection[Any], table: str) -> None:
    """Row-level security on, no grant for the public roles."""
    assert _one(db, "select relrowsecurity from pg_class where relname = %s", table) is True
    assert _one(db, "select has_table_privilege('anon', %s, 'select')", table) is False


def test_the_plan_uses_the_key_in_a_large_table(db: psycopg.Connection[Any]) -> None:
    """One dialog by its key, all dialogs by the vector index; nothing is run, so nothing is slow."""
    with db.transaction(force_rollback=True):
        db.execute(
            """
            insert into client_memory_chunks (dialog_key, content_hash, favorite_id, source, source_id, text, embedding,
                                              embedding_model)
            select 'd' || n / 20, md5(n::text), 'f', 'note', n::text, 'text ' || n,
                   (array[sin(n), cos(n)] || array_fill(0::float8, array[766]))::vector, 'test:768'
            from generate_series(1, 3000) n
            """
        )
        db.execute("analyze client_memory_chunks")
        plan = _one(db, "select desk_match_plan()")
        assert plan["rows"] == 3000 and "Seq Scan" not in plan["dialog"]["nodes"]
        assert plan["dialog"]["indexes"] and "client_memory_chunks_embedding_idx" not in plan["dialog"]["indexes"]
        found = _one(db, "select desk_recall_sample(10, 4)")
        assert found["sampled"] == 4 and found["k"] == 10 and found["recall"] >= 0.9
        assert not [value for value in found.values() if isinstance(value, (list, str))]


def test_recall_of_nothing(db: psycopg.Connection[Any]) -> None:
    """An empty table has none, rather than a full or an empty one."""
    assert _one(db, "select desk_recall_sample()") == {
        "sampled": 0, "k": 10, "recall": None, "worst": None, "exact_ms": None, "index_ms": None
    }  # fmt: skip


def test_of_two_askers_one_is_told(db: psycopg.Connection[Any]) -> None:
    """A mark is no news; a change is news once."""
    state = json.dumps([{"component": "auth", "status": "ok", "since": "2026-11-30T14:00:00Z"}])
    down = json.dumps([{"component": "auth", "status": "down", "since": "2026-11-30T15:00:00Z"}])
    assert [row["status"] for row in _one(db, "select desk_settle_health(%s, true)", state)] == ["ok"]
    assert [row["status"] for row in _one(db, "select desk_settle_health(%s, true)", down)] == ["ok"]
    assert [row["status"] for row in _one(db, "select desk_settle_health(%s)", down)] == ["down"]
    assert _one(db, "select desk_settle_health(%s)", down) == []


def test_counts_of_what_piles_up(db: psycopg.Connection[Any]) -> None:
    """Expired but not pinned; stuck, waiting and failed jobs; one that was done since is forgiven."""
    db.execute(
        """
        insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id, payload, content_hash, expires_at)
        select 'k', 'note', n::text, '{}', 'h', now() - n * interval '1 hour' from generate_series(1, 3) n;
        insert into desk_jobs (kind, key, state, actor, lease_until, created_at, finished_at) values
            ('a', null, 'running', '{}', now() - interval '1 hour', now() - interval '2 hours', null),
            ('b', null, 'queued', '{}', null, now() - interval '1 hour', null),
            ('c', 'x', 'failed', '{}', null, now(), now() - interval '1 hour'),
            ('c', 'y', 'failed', '{}', null, now(), now() - interval '1 hour'),
            ('c', 'y', 'done', '{}', null, now(), now()),
            ('d', null, 'failed', '{}', null, now(), now() - interval '2 days');
        """
    )
    found = _one(db, "select desk_health_counts()")
    assert found["expired"]["rows"] == 3 and found["usage_stale"] is False and found["daily"] is None
    jobs = found["jobs"]
    assert (jobs["stuck"], jobs["waiting"], jobs["failed"]) == (1, 1, 1)
    assert jobs["by_state"] == {"done": 1, "failed": 3, "queued": 1, "running": 1}


def test_an_older_database_has_fewer_parts(db: psycopg.Connection[Any]) -> None:
    """What is not there is left out, and nothing fails."""
    with db.transaction(force_rollback=True):
        db.execute("drop table desk_jobs cascade; drop table desk_snapshot_pins cascade")
        found = _one(db, "select desk_health_counts()")
    assert "jobs" not in found and "expired" not in found and "usage_stale" in found


def test_events_about_one_thing(db: psycopg.Connection[Any]) -> None:
    """By record, dialog, request or cause; filters before the limit; newest first."""
    cause = "6f0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c001"

    def event(n: int, **fields: Any) -> dict[str, Any]:
        given = {"event_id": f"6f0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c{n:03}", "type": "T", "class": "audit", "payload": {}}
        return {**given, "ts": "2026-11-30T14:00:00Z", "app_id": "memory", "actor": {"kind": "user"}, **fields}

    events = [
        event(1, record_id="k"),
        event(2, payload={"dialog_key": "k"}),
        event(3, payload={"request_id": "r"}, **{"class": "observation"}),
        event(4, caused_by=cause),
        event(5, record_id="other", type="U"),
    ]
    db.execute("select companion_append_events(%s)", (json.dumps(events),))

    def found(**params: Any) -> list[int]:
        named = ", ".join(f"{name} => %s" for name in params)
        answer = _one(db, f"select desk_activity({named})", *params.values())
        return [row["seq"] for row in answer["rows"]]

    assert found(p_about="k") == [2, 1] and found(p_about="r") == [3] and found(p_about=cause) == [4, 1]
    assert found(p_class="observation") == [3] and found(p_types=["U", "V"]) == [5]
    assert found(p_limit=2) == [5, 4] and found(p_before_seq=4, p_limit=2) == [3, 2]
    assert found(p_about="' or 1=1") == []
