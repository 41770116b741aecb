"""A file of the embedded database, and a database of such a file, with Postgres' own pg_dump and pg_restore.

The file holds everything: texts, vectors, events, people's names. What MEMORY_DESK_DATA_KEY sealed is sealed in it too;
the key itself, tokens and settings are not in it.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from core.errors import ConflictError, CoreError, InputError
from core.local import migrate
from core.local.binaries import programs

INCOMING, REPLACED = "memory_desk_incoming", "memory_desk_replaced"
COUNTED = ("client_memory_chunks", "tips_daily_entity_snapshots", "token_usage_logs", "companion_events")
FORMAT = b"PGDMP"


@dataclass(frozen=True)
class Counts:
    """Rows by table, and the last link of the chain of events. `back`: dialogs that were erased, and are here again."""

    rows: Mapping[str, int]
    head: str | None
    back: tuple[str, ...] = ()


def dump(dsn: str, file: Path, staging: Path) -> Counts:
    """Write a consistent copy, also while everything runs; mode 0600, and nothing half-written under that name.

    Errors: InputError where the file is there already, CoreError where pg_dump fails.
    """
    if file.exists():
        raise InputError("There is a file of that name already.", hint="Choose another name.", field="file")
    if not file.parent.is_dir():
        raise InputError("There is no such folder.", field="file")
    with psycopg.connect(dsn) as held:
        held.execute("set transaction isolation level repeatable read, read only")
        snapshot = _one(held, "select pg_export_snapshot()")
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=".backup-")
        os.close(handle)
        try:
            _run("pg_dump", dsn, staging, "--format=custom", f"--snapshot={snapshot}", f"--file={name}")
            counted = counts(held)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    return counted


def restore(dsn: str, file: Path, staging: Path, migrations: Path, *, replace: bool) -> Counts:
    """Put the database of a file in place of this one, whole or not at all. Nobody else may be connected.

    It is restored beside, brought to our migrations, given the records of erasures that came after the backup, and only
    then put in place. Errors: InputError (no such file, no backup), ConflictError (this one holds data and `replace` is
    not said), CoreError where pg_restore fails; then everything is as it was.
    """
    try:
        with file.open("rb") as source:
            if source.read(len(FORMAT)) != FORMAT:
                raise InputError("This is no backup of Memory Desk.", field="file")
    except OSError:
        raise InputError("The file cannot be read.", field="file") from None
    with psycopg.connect(dsn) as db:
        held = counts(db).rows
        erasures = _erasures(db)
    if any(held.values()) and not replace:
        raise ConflictError("This database is not empty.", hint="Say --replace, or set another MEMORY_DESK_DATA_DIR.")
    name = str(conninfo_to_dict(dsn)["dbname"])
    incoming, beside = make_conninfo(dsn, dbname=INCOMING), make_conninfo(dsn, dbname="template1")
    _admin(beside, "drop database if exists {} with (force)", INCOMING)
    _admin(beside, "create database {} template template0", INCOMING)
    try:
        _run("pg_restore", incoming, staging, "--exit-on-error", f"--dbname={incoming}", str(file))
        migrate.apply(incoming, migrations)
        with psycopg.connect(incoming) as db:
            _keep_erasures(db, erasures)
            counted = dataclasses.replace(counts(db), back=_back(db))
        _admin(beside, "drop database if exists {} with (force)", REPLACED)
        _swap(beside, name)
    except BaseException:
        _admin(beside, "drop database if exists {} with (force)", INCOMING)
        raise
    _admin(beside, "drop database if exists {} with (force)", REPLACED)
    return counted


def counts(db: psycopg.Connection[Any]) -> Counts:
    rows = {}
    for table in COUNTED:
        there = _one(db, "select to_regclass(%s) is not null", table)
        rows[table] = int(_one(db, sql.SQL("select count(*) from {}").format(sql.Identifier(table)))) if there else 0
    head = _one(db, "select hash from companion_events order by seq desc limit 1") if rows["companion_events"] else None
    return Counts(rows, str(head) if head else None)


def _swap(beside: str, name: str) -> None:
    with psycopg.connect(beside, autocommit=True) as db:
        for one in (name, INCOMING):
            db.execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s and pid <> pg_backend_pid()",
                (one,),
            )
        with db.transaction():  # a rename is one: both or none
            for old, new in ((name, REPLACED), (INCOMING, name)):
                db.execute(sql.SQL("alter database {} rename to {}").format(sql.Identifier(old), sql.Identifier(new)))


def _erasures(db: psycopg.Connection[Any]) -> list[str]:
    if not _one(db, "select to_regclass('desk_erasures') is not null"):
        return []
    return [row[0] for row in db.execute("select to_jsonb(e)::text from desk_erasures e")]


def _keep_erasures(db: psycopg.Connection[Any], erasures: list[str]) -> None:
    """Who was erased after the backup comes back with it: so that this is seen, and can be done again."""
    for one in erasures:
        db.execute(
            "insert into desk_erasures select * from jsonb_populate_record(null::desk_erasures, %s) "
            "on conflict (id) do nothing",
            (one,),
        )


def _back(db: psycopg.Connection[Any]) -> tuple[str, ...]:
    rows = db.execute(
        """
        with kept as (
            select dialog_key from client_memory_chunks union select dialog_key from tips_daily_entity_snapshots
            union select dialog_key from desk_usage_dialog_hours where dialog_key <> '')
        select distinct k.dialog_key from desk_erasures x join kept k
            on desk_salted(x.salt, k.dialog_key) = any (x.key_hashes)
        order by 1
        """
    )
    return tuple(row[0] for row in rows)


def _one(db: psycopg.Connection[Any], query: Any, *values: Any) -> Any:
    row = db.execute(query, values or None).fetchone()
    return row[0] if row else None


def _admin(dsn: str, command: str, name: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(sql.SQL(command).format(sql.Identifier(name)))


def _run(program: str, dsn: str, staging: Path, *arguments: str) -> None:
    with psycopg.connect(dsn) as db:
        major = db.info.server_version // 10_000
    given = [str(programs(major, None, staging) / program), *arguments]
    if program == "pg_dump":
        given.append(f"--dbname={dsn}")
    done = subprocess.run(given, capture_output=True, text=True, errors="replace")
    if done.returncode:
        last = done.stderr.strip().splitlines()[-1:] or [""]
        # Its words name objects of the schema, never their content.
        raise CoreError(f"{program} failed.", hint=last[0][:200])
