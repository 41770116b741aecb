"""An empty database after the migrations: tables as the specification has them, closed, indexed, touched on update."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from core.local import migrate
from tests.migrations.conftest import MODEL, call, chunk, insert, value, vector
from tests.support.database import MIGRATIONS

TABLES = (
    "client_memory_chunks",
    "tips_daily_entity_snapshots",
    "token_usage_log",
    "desk_meta",
    "desk_dialogs",
    "desk_dialog_sources",
    "companion_events",
    "companion_event_gaps",
)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize(("role", "reads"), [("anon", False), ("authenticated", False), ("service_role", True)])
def test_who_may_read(dsn: str, table: str, role: str, reads: bool) -> None:
    """Row-level security is on, and only the service role reads."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert value(connection, "select relrowsecurity from pg_class where oid = %s::regclass", table)
        connection.execute(f"set role {role}")
        if reads:
            connection.execute(f"select * from {table}")
            return
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute(f"select * from {table}")


@pytest.mark.parametrize("role", ["anon", "authenticated"])
def test_no_function_of_ours_for_the_public(dsn: str, role: str) -> None:
    """Neither a publishable key nor a signed-in user executes anything in the schema."""
    with psycopg.connect(dsn) as connection:
        allowed = connection.execute(
            "select proname from pg_proc where pronamespace = 'public'::regnamespace"
            " and has_function_privilege(%s, oid, 'execute')",
            [role],
        ).fetchall()
    assert allowed == []


def test_functions_follow_the_rules(dsn: str) -> None:
    """Never overloaded, each with a fixed search_path and a comment; definers look into pg_temp last."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute(
            "select proname, proconfig::text, obj_description(oid, 'pg_proc'), prosecdef from pg_proc"
            " where proname ~ '^(desk|companion|match_client)_' and pronamespace = 'public'::regnamespace"
            " and prokind = 'f'"  # a procedure that commits can set nothing
        ).fetchall()
    names = [row[0] for row in rows]
    assert len(names) > 30
    assert len(names) == len(set(names))
    assert [name for name, config, _, _ in rows if "search_path=public, extensions" not in (config or "")] == []
    assert [name for name, _, comment, _ in rows if not comment] == []
    assert [name for name, config, _, definer in rows if definer and "pg_temp" not in config] == []


def test_events_are_append_only(db: psycopg.Connection[Any]) -> None:
    """Even the service role changes no event but through the functions."""
    for statement in (
        "update companion_events set type = 'x'",
        "delete from companion_events",
        "truncate companion_events",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(statement)


def test_vectors_stay_in_the_row(dsn: str) -> None:
    """The embedding is stored plain, and nothing else is moved out of the row to make room."""
    with psycopg.connect(dsn) as connection:
        storage = "select attstorage::text from pg_attribute where attrelid = %s::regclass and attname = 'embedding'"
        assert value(connection, storage, "client_memory_chunks") == "p"
        insert(connection, [chunk(text="слово " * 70)])
        assert (
            value(
                connection,
                "select pg_relation_size(reltoastrelid) from pg_class where relname = 'client_memory_chunks'",
            )
            == 0
        )


def test_vector_index(db: psycopg.Connection[Any]) -> None:
    """HNSW for the cosine, with the parameters of the design."""
    definitions = [i["def"] for i in call(db, "desk_health_facts")["indexes"] if "hnsw" in i["def"]]
    assert len(definitions) == 1
    assert "USING hnsw (embedding vector_cosine_ops)" in definitions[0]
    assert "m=16, ef_construction=64" in definitions[0]


def test_hashes_are_unique_per_dialog(db: psycopg.Connection[Any]) -> None:
    """One hash once in a dialog, and again in another."""
    insert(db, [chunk("a", content_hash="h"), chunk("b", content_hash="h")])
    with pytest.raises(psycopg.errors.UniqueViolation):
        insert(db, [chunk("a", content_hash="h", text="other")])


@pytest.mark.parametrize("columns", [{"source": "letter"}, {"direction": "sideways"}, {"compose_mode": "never"}])
def test_values_outside_the_specification(db: psycopg.Connection[Any], columns: dict[str, str]) -> None:
    """Unknown sources, directions and modes are refused."""
    with pytest.raises(psycopg.errors.CheckViolation):
        insert(db, [chunk(**columns)])


def test_touch(db: psycopg.Connection[Any]) -> None:
    """updated_at moves when something changed, not for an update to the same values, and not against a given one."""
    insert(db, [chunk(updated_at="2026-01-01T00:00:00Z")])
    since = "select extract(year from updated_at)::int || coalesce(language, '') from client_memory_chunks"
    old = "update client_memory_chunks set updated_at = '2026-01-01', language = null"
    db.execute("update client_memory_chunks set text = text")
    assert value(db, "select updated_at = '2026-01-01Z' from client_memory_chunks")
    db.execute("update client_memory_chunks set language = 'uk'")
    assert value(db, "select updated_at > now() - interval '1 minute' from client_memory_chunks")
    db.execute(old)
    assert value(db, since) == "2026"
    db.execute("update client_memory_chunks set language = 'en', updated_at = '2025-01-01'")
    assert value(db, since) == "2025en"


def test_embedding_again_is_no_news(db: psycopg.Connection[Any]) -> None:
    """Another model's vector for the same text leaves updated_at: status reads it as the age of the text."""
    insert(db, [chunk(updated_at="2026-01-01T00:00:00Z")])
    db.execute("update client_memory_chunks set embedding = %s, embedding_model = 'other'", [vector(0, 1)])
    assert value(db, "select updated_at = '2026-01-01Z' and embedding_model = 'other' from client_memory_chunks")


def test_snapshots_expire_in_two_weeks(db: psycopg.Connection[Any]) -> None:
    """The default of the specification, and its identity is unique."""
    snapshot = (
        "insert into tips_daily_entity_snapshots (dialog_key, entity_type, content_hash) values ('k', 'note', 'h')"
    )
    db.execute(snapshot)
    assert value(db, "select extract(day from expires_at - now()) >= 13 from tips_daily_entity_snapshots")
    with pytest.raises(psycopg.errors.UniqueViolation):
        db.execute(snapshot)


def test_usage_takes_unknown_values(db: psycopg.Connection[Any]) -> None:
    """No check on provider, model or phase: a refused insert is lost silently."""
    db.execute("insert into token_usage_log (provider, model, phase) values ('acme', 'm-1', 'dreaming')")
    assert value(db, "select at is not null and cached_tokens is null from token_usage_log")


def test_facts_of_a_healthy_database(db: psycopg.Connection[Any]) -> None:
    """Everything exists, is ours, valid and protected."""
    facts = call(db, "desk_health_facts")
    assert facts["unprotected"] == []
    assert facts["chunk_columns_missing"] == []
    assert {t["name"] for t in facts["tables"]} == set(TABLES)
    assert all(t["exists"] and t["rls"] and not t["anon_can_read"] for t in facts["tables"])
    assert all(f["exists"] and f["ours"] for f in facts["functions"])
    assert all(i["valid"] for i in facts["indexes"])
    assert facts["pgvector"]


def test_facts_name_what_is_wrong(dsn: str) -> None:
    """A table opened to anon, a function put back by the service and a dropped column are seen."""
    with psycopg.connect(dsn) as connection:
        connection.execute("grant select on desk_meta to anon")
        connection.execute("create policy open on desk_meta for select to anon using (true)")
        connection.execute("alter table client_memory_chunks drop column language")
        connection.execute("create function match_client_memory_chunks(a int) returns int language sql as 'select 1'")
        facts = call(connection, "desk_health_facts")
        connection.rollback()
    assert facts["unprotected"] == ["desk_meta"]
    assert facts["chunk_columns_missing"] == ["language"]
    assert [f["name"] for f in facts["functions"] if not f["ours"]] == ["match_client_memory_chunks"]


def test_facts_under_a_lock(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """Somebody holds the chunk table exclusively: facts, list and status still answer, so Health can say what it is."""
    insert(db, [chunk()])
    db.execute("set statement_timeout = '2s'")
    other.execute("lock table client_memory_chunks in access exclusive mode")
    assert call(db, "desk_health_facts")["unprotected"] == []
    assert call(db, "desk_dialog_list")["total"] == 1
    assert call(db, "desk_dialog_status", p_dialog_keys=["d1"])["d1"]["counts"]["conversation"] == 1
    with pytest.raises(psycopg.errors.QueryCanceled):
        call(db, "desk_overview")


def test_applied_migrations_for_the_api(db: psycopg.Connection[Any]) -> None:
    """The service role reads the record although its schema is closed to it."""
    recorded = call(db, "desk_applied_migrations")
    assert [m["version"] for m in recorded] == [m.version for m in migrate.read_migrations(MIGRATIONS)]
    assert all(m["name"] for m in recorded)
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        db.execute("select * from supabase_migrations.schema_migrations")


def test_migrations_run_again(owner_dsn: str) -> None:
    """Run once more on their own result, as the owner, they change nothing and lose nothing."""
    with psycopg.connect(owner_dsn) as connection:
        insert(connection, [chunk(embedding_model=MODEL)])
        before = call(connection, "desk_health_facts")
        for migration in migrate.read_migrations(MIGRATIONS):
            connection.execute(migration.sql.encode())
        assert call(connection, "desk_health_facts") == before
        assert call(connection, "desk_overview")["chunks"] == 1
        assert call(connection, "desk_check_rollups")["equal"]
        connection.rollback()


def test_no_syntax_of_one_version() -> None:
    """What only Postgres 18 has stays out, and so does every extension but vector."""
    text = "\n".join(m.sql.lower() for m in migrate.read_migrations(MIGRATIONS))
    for word in ("uuidv7(", " virtual", "returning old", "returning new", "json_table", "any_value("):
        assert word not in text
    assert text.count("create extension") == 1
