"""Beside the existing service on its live database: nothing lost, nobody locked out, its writes never fail or wait."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from core.local import migrate
from tests.migrations.conftest import LEGACY, call, rebuild, value, vector
from tests.support.database import MIGRATIONS, clone, drop

ROW = """insert into client_memory_chunks (dialog_key, content_hash, client_id, source, source_id, text, embedding)
values (%s, gen_random_uuid()::text, 'ru-1', 'note', 'n', 'written by the service', %s) returning id"""
FAULTS = "select count(*) from desk_meta where key like 'rollup_fault:%%'"


def write(connection: psycopg.Connection[Any], key: str = "d1") -> float:
    """One insert of the service, as anon; seconds it took."""
    connection.execute("set role anon")
    began = time.monotonic()
    assert connection.execute(ROW, [key, vector(1)]).fetchone()
    connection.execute("reset role")
    return time.monotonic() - began


@pytest.fixture
def holder(legacy_server: tuple[str, str]) -> Iterator[psycopg.Connection[Any]]:
    """Another session that holds locks on our tables."""
    with psycopg.connect(legacy_server[1]) as connection:
        yield connection
        connection.rollback()


def test_no_row_is_lost(legacy: psycopg.Connection[Any]) -> None:
    """Every row of before is there, its columns as they were."""
    assert value(legacy, "select count(*) from client_memory_chunks where raw::text = '{\"a\": 1}'") == 350
    assert value(legacy, "select count(*) from tips_daily_entity_snapshots") == 120
    assert value(legacy, "select sum(total_tokens) from token_usage_log") == 150 * 151 // 2
    assert value(legacy, "select max(created_at) = timestamptz '2026-05-20 08:00Z' from client_memory_chunks")


def test_missing_columns_came_beside(legacy: psycopg.Connection[Any]) -> None:
    """All columns of the specification are there; rows from before claim no model and no time that nobody knows."""
    assert call(legacy, "desk_health_facts")["chunk_columns_missing"] == []
    assert (
        value(legacy, "select count(*) from client_memory_chunks where updated_at is null and embedding_model is null")
        == 350
    )
    assert value(legacy, "select count(cached_tokens) from token_usage_log") == 0


def test_a_default_of_the_service_is_kept(legacy: psycopg.Connection[Any]) -> None:
    """Its 21 days until expiry are not made our 14."""
    legacy.execute(
        "insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_id) values ('x', 'note', '1')"
    )
    days = value(
        legacy, "select extract(day from expires_at - now()) from tips_daily_entity_snapshots where dialog_key = 'x'"
    )
    assert days == 21


@pytest.mark.parametrize("table", ["client_memory_chunks", "tips_daily_entity_snapshots", "token_usage_log"])
def test_nobody_is_locked_out(legacy: psycopg.Connection[Any], table: str) -> None:
    """Row-level security stays off and anon reads, inserts, updates and deletes as before; Health names the table."""
    assert not value(legacy, "select relrowsecurity from pg_class where oid = %s::regclass", table)
    for right in ("select", "insert", "update", "delete"):
        assert value(legacy, "select has_table_privilege('anon', %s, %s)", table, right)
    facts = call(legacy, "desk_health_facts")
    assert table in facts["unprotected"]
    assert next(t for t in facts["tables"] if t["name"] == table)["anon_can_read"]


def test_our_own_tables_are_closed_there_too(legacy: psycopg.Connection[Any]) -> None:
    """What we add beside is for the service role alone."""
    assert set(call(legacy, "desk_health_facts")["unprotected"]) == {
        "client_memory_chunks",
        "tips_daily_entity_snapshots",
        "token_usage_log",
    }
    legacy.execute("set role anon")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        legacy.execute("select * from desk_dialogs")


def test_one_match_function_with_the_callers_of_before(legacy: psycopg.Connection[Any]) -> None:
    """Both old ones are gone; anon may still call, authenticated still may not."""
    names = legacy.execute("select proargnames from pg_proc where proname = 'match_client_memory_chunks'").fetchall()
    assert len(names) == 1
    assert names[0][0][:2] == ["query_embedding", "match_dialog_key"]
    allowed = {
        role: value(
            legacy,
            "select has_function_privilege(%s, oid, 'execute') from pg_proc where proname like 'match_client%%'",
            role,
        )
        for role in ("anon", "authenticated", "service_role")
    }
    assert allowed == {"anon": True, "authenticated": False, "service_role": True}


def test_the_service_finds_its_rows(legacy: psycopg.Connection[Any]) -> None:
    """Its key, as anon, gets rows of its dialog through the new function, though they name no model."""
    key = value(legacy, "select dialog_key from client_memory_chunks order by 1 limit 1")
    legacy.execute("set role anon")
    found = legacy.execute(
        "select * from match_client_memory_chunks(%s::extensions.vector, %s)", [vector(1), key]
    ).fetchall()
    assert len(found) == 12


def test_the_rollup_was_filled(legacy: psycopg.Connection[Any]) -> None:
    """Dialogs of before are in the list at once, equal to their rows."""
    assert call(legacy, "desk_check_rollups") == {"equal": True, "differing": [], "stale": False}
    overview = call(legacy, "desk_overview")
    assert (overview["dialogs"], overview["chunks"]) == (14, 350)
    assert overview["by_model"] == {"none": 350}


def test_its_index_is_not_built_again(legacy: psycopg.Connection[Any]) -> None:
    """A vector index that is there serves, whatever its parameters."""
    indexes = call(legacy, "desk_health_facts")["indexes"]
    assert [i["name"] for i in indexes if "hnsw" in i["def"]] == ["memory_embedding_idx"]


def test_migrations_of_the_service_stay_recorded(legacy: psycopg.Connection[Any]) -> None:
    """Both histories stand in one list."""
    versions = {m["version"] for m in call(legacy, "desk_applied_migrations")}
    assert {"20260519", "20260520", "20261130100500"} <= versions


def test_an_update_touches_the_new_column(legacy: psycopg.Connection[Any]) -> None:
    """A table with a column without equality and a generated one can be updated, by anon."""
    legacy.execute("set role anon")
    legacy.execute("update client_memory_chunks set raw = '{\"a\": 2}' where source = 'photo'")
    assert value(legacy, "select count(*) from client_memory_chunks where updated_at = now()") == 70


def test_writes_keep_the_rollup(legacy: psycopg.Connection[Any]) -> None:
    """Insert, update and delete as anon, who may not see our tables, and the rollup follows."""
    write(legacy, "new dialog")
    legacy.execute("set role anon")
    legacy.execute("update client_memory_chunks set note_date = '2026-06-01' where source = 'note'")
    legacy.execute("delete from client_memory_chunks where source = 'photo'")
    legacy.execute("reset role")
    assert call(legacy, "desk_check_rollups") == {"equal": True, "differing": [], "stale": False}


@pytest.mark.parametrize(
    "locked", ["desk_dialogs", "desk_dialog_sources", "desk_dialogs, desk_dialog_sources, desk_meta"]
)
def test_locked_rollup(legacy: psycopg.Connection[Any], holder: psycopg.Connection[Any], locked: str) -> None:
    """With our tables locked by somebody the write succeeds at once, and the rollup says that it is stale."""
    holder.execute(f"lock table {locked} in access exclusive mode")
    assert write(legacy) < 1
    holder.rollback()
    assert call(legacy, "desk_overview")["rollup_stale"]
    assert call(legacy, "desk_check_rollups")["differing"] == ["d1"]
    call(legacy, "desk_rebuild_rollups")
    assert call(legacy, "desk_check_rollups")["equal"]


def test_locked_row(legacy: psycopg.Connection[Any], holder: psycopg.Connection[Any]) -> None:
    """A rollup row that a long transaction holds delays a write by half a second, no more."""
    write(holder, "contended")
    assert write(legacy, "contended") < 1.5
    assert value(legacy, FAULTS) == 1


def test_fault_without_meta_clears(legacy: psycopg.Connection[Any], holder: psycopg.Connection[Any]) -> None:
    """Where even the mark could not be written, the sequence keeps it until a rebuild sees that writer's rows."""
    holder.execute("lock table desk_dialogs, desk_meta in access exclusive mode")
    write(legacy)
    legacy.commit()
    holder.rollback()
    assert call(legacy, "desk_overview")["rollup_stale"]
    assert not rebuild(legacy, "desk_rebuild_rollups")["stale"]
    legacy.execute("delete from client_memory_chunks where dialog_key = 'd1'")
    legacy.commit()
    assert call(legacy, "desk_check_rollups") == {"equal": True, "differing": [], "stale": False}


@pytest.mark.parametrize(
    "damage",
    [
        "drop table desk_dialogs cascade",
        "drop table desk_dialog_sources; drop table desk_meta; drop sequence desk_rollup_faults",
        "alter table desk_dialogs drop column chunks",
        "alter table desk_dialog_sources add check (chunks < 0) not valid",
        "drop function desk_lock_dialogs(text[])",
        "drop function desk_note_rollup_fault(text); drop table desk_dialog_sources",
        "alter table client_memory_chunks drop column favorite_id",
    ],
)
def test_broken_rollup(legacy: psycopg.Connection[Any], damage: str) -> None:
    """Whatever of ours is missing or broken, inserts, updates and deletes of the service go on."""
    legacy.execute(damage)
    assert write(legacy) < 1
    legacy.execute("set role anon")
    assert (
        legacy.execute("update client_memory_chunks set tags = '{x}', source_id = 'n' where source = 'note'").rowcount
        == 71
    )
    assert legacy.execute("delete from client_memory_chunks where dialog_key = 'd1'").rowcount == 1
    legacy.execute("reset role")
    legacy.execute("truncate client_memory_chunks")


def test_migrations_run_again(legacy_server: tuple[str, str]) -> None:
    """Without the record of having run, all of them run once more and change nothing."""
    with psycopg.connect(legacy_server[0]) as connection:
        before = call(connection, "desk_health_facts")
        for migration in migrate.read_migrations(MIGRATIONS):
            connection.execute(migration.sql.encode())
        assert call(connection, "desk_health_facts") == before
        assert value(connection, "select count(*) from client_memory_chunks") == 350
        connection.rollback()


def test_a_large_table_is_not_indexed(embedded: Any, worker_id: str) -> None:
    """Over 2,000 rows no index is built, as that would block its writes; Health sees which are missing."""
    name = f"large_{worker_id}"
    clone(embedded.server, "template_blank", name)
    owner = embedded.server.dsn(name, "postgres")
    with psycopg.connect(owner) as connection:
        connection.execute(LEGACY.read_bytes())
        connection.execute("drop index memory_embedding_idx")
        connection.execute(
            "insert into client_memory_chunks (dialog_key, content_hash, source, text, embedding)"
            " select 'big', g::text, 'note', 'x', %s from generate_series(1, 1700) g",
            [vector(1)],
        )
    migrate.apply(owner, MIGRATIONS)
    with psycopg.connect(owner) as connection:
        names = {
            i["name"] for i in call(connection, "desk_health_facts")["indexes"] if i["table"] == "client_memory_chunks"
        }
        assert names == {"client_memory_chunks_pkey", "client_memory_chunks_dialog_key_content_hash_key"}
        assert call(connection, "desk_check_rollups")["equal"]
    drop(embedded.server, name)
