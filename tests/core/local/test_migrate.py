"""Migrations, applied and recorded as the Supabase CLI does."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import psycopg
import pytest

from core.errors import ConfigError, CoreError, DatabaseUnavailable, PermissionDenied, SchemaMismatch
from core.local import migrate
from tests.support.database import MIGRATIONS, Worker

FIRST = "-- a table\ncreate table public.first (id int);\ninsert into public.first values (1);\n"
BROKEN = "create table public.second (id int);\n\nselect nonsense\n  from public.first;\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "20260101000000_first.sql").write_text(FIRST)
    (tmp_path / "readme.sql").write_text("not a migration")
    return tmp_path


def rows(dsn: str, sql: str) -> list[tuple[object, ...]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        return connection.execute(sql.encode()).fetchall()


def test_a_migration_runs_once_and_is_recorded(blank_dsn: str, folder: Path) -> None:
    """Version, name and statements stand where the CLI looks for them; a second run does nothing."""
    assert [m.file for m in migrate.pending(blank_dsn, folder)] == ["20260101000000_first.sql"]
    assert [m.version for m in migrate.apply(blank_dsn, folder)] == ["20260101000000"]
    assert migrate.apply(blank_dsn, folder) == [] == migrate.pending(blank_dsn, folder)
    assert migrate.applied(blank_dsn) == ["20260101000000"]
    assert rows(blank_dsn, "select version, name, statements from supabase_migrations.schema_migrations") == [
        (
            "20260101000000",
            "first",
            ["-- a table\ncreate table public.first (id int)", "insert into public.first values (1)"],
        )
    ]
    assert rows(blank_dsn, "select id from public.first") == [(1,)]


def test_a_failure_names_file_statement_and_line_and_leaves_nothing(blank_dsn: str, folder: Path) -> None:
    """What came before in the same file is undone, earlier files stay."""
    (folder / "20260102000000_broken.sql").write_text(BROKEN)
    with pytest.raises(SchemaMismatch, match=r"20260102000000_broken\.sql failed at statement 2 \(line 3\): 42703"):
        migrate.apply(blank_dsn, folder)
    assert rows(blank_dsn, "select to_regclass('public.first') is null, to_regclass('public.second') is null") == [
        (False, True)
    ]
    assert migrate.applied(blank_dsn) == ["20260101000000"]


def test_values_of_rows_stay_out_of_the_error(blank_dsn: str, folder: Path) -> None:
    """Postgres quotes the offending value; we give the code alone."""
    (folder / "20260102000000_cast.sql").write_text("select 'he worries about trust'::int;")
    with pytest.raises(SchemaMismatch) as failed:
        migrate.apply(blank_dsn, folder)
    assert "22P02" in str(failed.value) and "trust" not in str(failed.value)


def test_an_edited_migration_is_named_before_anything_runs(blank_dsn: str, folder: Path) -> None:
    """A comment or a blank is no edit; another statement is."""
    migrate.apply(blank_dsn, folder)
    path = folder / "20260101000000_first.sql"
    path.write_text("/* why */ " + FIRST.replace("(id int)", "( id\n int )"))
    assert migrate.drifted(blank_dsn, folder) == [] == migrate.apply(blank_dsn, folder)
    path.write_text(FIRST.replace("id int", "id bigint"))
    (folder / "20260103000000_third.sql").write_text("create table public.third (id int);")
    with pytest.raises(SchemaMismatch, match=r"20260101000000_first\.sql is not what ran"):
        migrate.apply(blank_dsn, folder)
    assert [m.name for m in migrate.drifted(blank_dsn, folder)] == ["first"]
    assert rows(blank_dsn, "select to_regclass('public.third') is null") == [(True,)]


def test_the_history_of_others_is_left_alone(blank_dsn: str, folder: Path) -> None:
    """The existing service has versions of eight digits, and an old CLI made the table without statements."""
    with psycopg.connect(blank_dsn, autocommit=True) as connection:
        connection.execute("create schema supabase_migrations")
        connection.execute("create table supabase_migrations.schema_migrations (version text not null primary key)")
        connection.execute("insert into supabase_migrations.schema_migrations values ('20260520'), ('20260101000000')")
    assert migrate.applied(blank_dsn) == ["20260520", "20260101000000"]
    (folder / "20260102000000_next.sql").write_text("create table public.next (id int);")
    assert [m.name for m in migrate.apply(blank_dsn, folder)] == ["next"]


def test_two_at_once_take_turns(blank_dsn: str, folder: Path) -> None:
    """Each file runs exactly once, whoever comes first, and nobody fails."""
    (folder / "20260102000000_slow.sql").write_text("select pg_sleep(0.3); create table public.slow (id int);")
    ran: list[str] = []
    failed: list[CoreError] = []

    def run() -> None:
        try:
            ran.extend(m.name for m in migrate.apply(blank_dsn, folder))
        except CoreError as error:
            failed.append(error)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (sorted(ran), failed) == (["first", "slow"], [])


def test_a_file_cannot_end_its_transaction(blank_dsn: str, folder: Path) -> None:
    """A commit inside would leave half a migration behind."""
    (folder / "20260102000000_commit.sql").write_text("create table public.c (id int);\n/* x */ COMMIT;\nselect nope;")
    with pytest.raises(SchemaMismatch, match=r"statement 2 \(line 2\)"):
        migrate.apply(blank_dsn, folder)
    assert rows(blank_dsn, "select to_regclass('public.c') is null") == [(True,)]


def test_two_files_of_one_version_are_refused(folder: Path) -> None:
    """Only one of them could ever be recorded."""
    (folder / "20260101000000_other.sql").write_text("select 1;")
    with pytest.raises(SchemaMismatch, match="20260101000000"):
        migrate.read_migrations(folder)


def test_no_database_is_told_apart_from_no_right(embedded: Worker, blank_dsn: str, folder: Path) -> None:
    """No answer is worth a retry, a refusal is not."""
    with pytest.raises(DatabaseUnavailable) as lost:
        migrate.applied("host=/nowhere dbname=x")
    assert lost.value.retryable
    (folder / "20260102000000_refused.sql").write_text("create role intruder superuser;")
    with pytest.raises(PermissionDenied, match=r"20260102000000_refused\.sql"):
        migrate.apply(blank_dsn, folder)


def test_migrations_run_as_an_owner_who_is_no_superuser(blank_dsn: str) -> None:
    """As on a hosted project; the HNSW settings of our functions still pass."""
    migrate.apply(blank_dsn, MIGRATIONS)
    owner = "select distinct tableowner from pg_tables where schemaname = 'public'"
    assert rows(blank_dsn, owner) == [("postgres",)]
    assert rows(blank_dsn, "select rolsuper, rolbypassrls from pg_roles where rolname = current_user") == [
        (False, True)
    ]


def test_the_ground_is_that_of_a_hosted_project(blank_dsn: str) -> None:
    """Roles, schemas, who may take on whom, timeouts, and what a new table grants."""
    roles = rows(
        blank_dsn,
        "select rolname, rolcanlogin, rolinherit, rolbypassrls, rolsuper from pg_roles"
        " where rolname in ('anon', 'authenticated', 'authenticator', 'service_role') order by 1",
    )
    assert roles == [
        ("anon", False, False, False, False),
        ("authenticated", False, False, False, False),
        ("authenticator", True, False, False, False),
        ("service_role", False, False, True, False),
    ]
    assert rows(blank_dsn, "select extnamespace::regnamespace::text from pg_extension where extname = 'vector'") == [
        ("extensions",)
    ]
    with psycopg.connect(blank_dsn) as connection:
        connection.execute("create table public.t (id int)")
        found = connection.execute("select has_table_privilege('anon', 'public.t', 'insert')").fetchone()
        assert found == (True,)
        connection.execute("""set local request.jwt.claims = '{"role": "anon", "sub": null}'""")
        assert connection.execute("select auth.role(), auth.uid(), auth.jwt() ->> 'role'").fetchone() == (
            "anon",
            None,
            "anon",
        )


def test_preparing_twice_changes_nothing(embedded: Worker, blank_dsn: str) -> None:
    """It runs at each start."""
    name = psycopg.conninfo.conninfo_to_dict(blank_dsn)["dbname"]
    migrate.prepare(embedded.server.dsn(str(name)))
    migrate.prepare(embedded.server.dsn(str(name)))


def test_a_version_of_the_wheel_is_used_as_chosen(embedded: Worker) -> None:
    """The whole run can be made on 16 as well as on 18."""
    wanted = os.environ.get("PGSERVER_POSTGRES_VERSION", "18")
    assert rows(embedded.server.dsn(), "select current_setting('server_version_num')::int / 10000") == [(int(wanted),)]
    with pytest.raises(ConfigError, match="was made by Postgres"):
        _ = type(embedded.server)(embedded.server.pgdata, major=16 if wanted == "18" else 18).major
