"""Apply `supabase/migrations`, to the embedded database and, over SUPABASE_DB_URL, to a hosted one.

Recorded as the Supabase CLI records them (supabase/cli, pkg/migration/history.go and file.go): one row per file in
`supabase_migrations.schema_migrations`, with the statements as the file has them. So `supabase db push` and we agree
on what has run. Versions that only the database knows (those of the existing service) are left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

from core.errors import DatabaseError, DatabaseUnavailable, PermissionDenied, SchemaMismatch
from core.local.statements import Statement, meaning, split

FILE = re.compile(r"^([0-9]+)_(.*)\.sql$")
LOCK = 7_265_318_401_523_772  # any constant; two processes that migrate take turns
CONNECT_TIMEOUT_S = 10
TRANSACTION_WORDS = ("begin", "commit", "rollback", "start", "end", "abort")
TABLE = (
    "create schema if not exists supabase_migrations",
    "create table if not exists supabase_migrations.schema_migrations (version text not null primary key)",
    "alter table supabase_migrations.schema_migrations add column if not exists statements text[]",
    "alter table supabase_migrations.schema_migrations add column if not exists name text",
)


@dataclass(frozen=True)
class Migration:
    """One file `<version>_<name>.sql`."""

    version: str
    name: str
    sql: str

    @property
    def file(self) -> str:
        return f"{self.version}_{self.name}.sql"


def prepare(dsn: str) -> None:
    """Give a fresh database what a hosted project has: roles, schemas, vector, default privileges. For a superuser."""
    with connected(dsn) as connection, connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        connection.execute(Path(__file__).with_name("roles.sql").read_bytes())


def read_migrations(folder: Path) -> list[Migration]:
    """The files of a folder by version. Error: SchemaMismatch when two of them share one."""
    found: dict[str, Migration] = {}
    for path in sorted(folder.glob("*.sql")):
        if match := FILE.match(path.name):
            version, name = match.groups()
            if version in found:
                raise SchemaMismatch(
                    f"Two migrations have the version {version}: {found[version].file} and {path.name}."
                )
            found[version] = Migration(version, name, path.read_text(encoding="utf-8"))
    return [found[version] for version in sorted(found, key=lambda v: (len(v), v))]


def applied(dsn: str) -> list[str]:
    """Recorded versions in order; empty for a database that was never migrated."""
    with connected(dsn) as connection:
        return sorted(_recorded(connection), key=lambda v: (len(v), v))


def pending(dsn: str, folder: Path) -> list[Migration]:
    """Files that the database has not run, in order, even if later ones have."""
    done = set(applied(dsn))
    return [m for m in read_migrations(folder) if m.version not in done]


def drifted(dsn: str, folder: Path) -> list[Migration]:
    """Files whose statements are no longer those that ran; comments and white space do not count."""
    with connected(dsn) as connection:
        return _drifted(read_migrations(folder), _recorded(connection))


def apply(dsn: str, folder: Path) -> list[Migration]:
    """Run what is pending, each file in one transaction together with its record; returns what ran.

    The lock belongs to the transaction, so it works behind a pooler as well. PostgREST is told to read the schema anew.
    Errors: SchemaMismatch names file, statement and line, and nothing of that file has happened; DatabaseUnavailable.
    """
    migrations = read_migrations(folder)
    ran: list[Migration] = []
    with connected(dsn) as connection:
        records = _recorded(connection)
        if changed := _drifted(migrations, records):
            raise SchemaMismatch(
                f"{changed[0].file} is not what ran on this database under that version.",
                hint="A migration is not edited once it has run: write a new one, or start a fresh data folder.",
            )
        for migration in migrations:
            if migration.version not in records and _run(connection, migration):
                ran.append(migration)
        if ran:
            connection.execute("notify pgrst, 'reload schema'")
    return ran


def _run(connection: psycopg.Connection[Any], migration: Migration) -> bool:
    """False when another process ran it while we waited for our turn."""
    statements = split(migration.sql)
    for number, statement in enumerate(statements, 1):
        if statement.verb in TRANSACTION_WORDS:
            raise _failure(migration, number, statement, "a file runs in one transaction and cannot control it")
    connection.execute("reset all")
    with connection.transaction():
        connection.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        for line in TABLE:
            connection.execute(line)
        known = "select 1 from supabase_migrations.schema_migrations where version = %s"
        if connection.execute(known, (migration.version,)).fetchone():
            return False
        connection.execute("set local statement_timeout = 0; set local lock_timeout = '30s'")
        for number, statement in enumerate(statements, 1):
            try:
                connection.execute(statement.text.encode())
            except psycopg.errors.LockNotAvailable as busy:
                raise DatabaseUnavailable(
                    f"{migration.file} waits for a table that is in use.", hint="Try again."
                ) from busy
            except psycopg.errors.InsufficientPrivilege as refused:
                raise PermissionDenied(str(_failure(migration, number, statement, _words(refused)))) from refused
            except psycopg.OperationalError:
                raise
            except psycopg.Error as failed:
                raise _failure(migration, number, statement, _words(failed)) from failed
        connection.execute(
            "insert into supabase_migrations.schema_migrations (version, name, statements) values (%s, %s, %s)",
            (migration.version, migration.name, [s.text for s in statements]),
        )
    return True


def _recorded(connection: psycopg.Connection[Any]) -> dict[str, list[str] | None]:
    exists = connection.execute("select to_regclass('supabase_migrations.schema_migrations') is not null").fetchone()
    if not exists or not exists[0]:
        return {}
    rows = connection.execute(
        "select version, to_jsonb(m) -> 'statements' from supabase_migrations.schema_migrations m order by version"
    )  # through jsonb, because an old CLI made the table without that column
    return dict(rows.fetchall())


def _drifted(migrations: list[Migration], records: dict[str, list[str] | None]) -> list[Migration]:
    return [
        m
        for m in migrations
        if (ran := records.get(m.version)) and meaning(ran) != meaning([s.text for s in split(m.sql)])
    ]


@contextmanager
def connected(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection outside a transaction; failures of the connection itself become DatabaseUnavailable."""
    try:
        with psycopg.connect(
            dsn, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S, prepare_threshold=None
        ) as connection:
            connection.add_notice_handler(lambda _: None)
            yield connection
    except psycopg.errors.InvalidPassword as refused:
        raise PermissionDenied(
            "The database refused the password of the direct connection.", hint="SUPABASE_DB_URL"
        ) from refused
    except psycopg.OperationalError as lost:
        raise DatabaseUnavailable("The database does not answer a direct connection.", detail=_words(lost)) from lost
    except psycopg.Error as failed:
        raise DatabaseError("The database refused a statement.", detail=_words(failed)) from failed


def _failure(migration: Migration, number: int, statement: Statement, reason: str) -> SchemaMismatch:
    head = " ".join(statement.text.split())[:80]
    return SchemaMismatch(
        f"{migration.file} failed at statement {number} (line {statement.line}): {reason}.",
        hint="Nothing of this file was applied.",
        detail=head,
    )


def _words(error: psycopg.Error) -> str:
    """SQLSTATE and Postgres's words, without them for classes 22 and 23, which quote values of rows."""
    state = error.sqlstate or type(error).__name__
    if state[:2] in ("22", "23"):
        return f"{state} {error.diag.constraint_name or type(error).__name__}"
    return f"{state} {error.diag.message_primary or ''}".strip()
