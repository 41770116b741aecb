"""One Postgres for a test run, a migrated template in it, and for each worker a clone with its own gateway."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
from filelock import FileLock

from core.local import gateway_process, migrate
from core.local import state as states
from core.local.keys import new_keys
from core.local.postgres import PostgresServer
from core.local.processes import born, this_process
from core.local.server import Endpoint

MIGRATIONS = Path(__file__).resolve().parents[2] / "supabase/migrations"
PREFIX = "memory-desk-tests-"
RUN = "MEMORY_DESK_TEST_RUN"

# Rows that migrations write are the starting point of each test; a copy lies beside them.
KEEP_SEEDS = """
create schema if not exists test_seed;
do $$
declare t record; filled boolean;
begin
  for t in select tablename from pg_tables where schemaname = 'public' loop
    execute format('select exists (select from public.%I)', t.tablename) into filled;
    if filled then execute format('create table test_seed.%I as table public.%I', t.tablename, t.tablename); end if;
  end loop;
end $$;
"""
RESET = """
do $$
declare t record; changed boolean; names text[] := '{}';
begin
  set local session_replication_role = replica;
  set local lock_timeout = '10s';
  -- A truncate makes new files: only what a test touched is worth it.
  for t in select tablename as name, to_regclass(format('test_seed.%I', tablename)) is not null as seeded
           from pg_tables where schemaname = 'public' loop
    execute format(case when t.seeded
      then 'select exists ((table public.%1$I except table test_seed.%1$I)
                           union all (table test_seed.%1$I except table public.%1$I))'
      else 'select exists (select from public.%1$I)' end, t.name) into changed;
    if changed then names := names || format('public.%I', t.name); end if;
  end loop;
  if names <> '{}' then execute 'truncate ' || array_to_string(names, ', ') || ' restart identity cascade'; end if;
  for t in select s.tablename as name from pg_tables s where s.schemaname = 'test_seed' loop
    -- Also those that the cascade emptied.
    execute format('insert into public.%1$I select * from test_seed.%1$I
                    where not exists (select from public.%1$I)', t.name);
  end loop;
  for t in select sequencename as name from pg_sequences where schemaname = 'public' and last_value is not null loop
    execute format('alter sequence public.%I restart', t.name);
  end loop;
end $$;
"""


def open_run() -> None:
    """Name the folder of this run for all its workers, through the environment they inherit."""
    base = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    base.chmod(0o711)  # as root, Postgres runs as somebody else and must pass
    os.environ[RUN] = str(base)


def close_run() -> None:
    _remove(Path(os.environ.pop(RUN)))


@dataclass
class Worker:
    """The clone of one xdist worker; `folder` is a data folder that `LocalSupabase.attach` joins."""

    server: PostgresServer
    folder: Path
    database: str
    endpoint: Endpoint
    _connection: psycopg.Connection[Any] | None = None

    def _own(self) -> psycopg.Connection[Any]:
        """Kept from test to test: a new session reads the whole catalogue again, which takes most of a reset."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.endpoint.dsn, autocommit=True)
        return self._connection

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def reset(self) -> None:
        """Empty what tests filled, put back what migrations wrote, and have a gateway even after a test killed it."""
        state = states.read(self.folder)
        assert state is not None
        if not (state.gateway and state.gateway.alive() and gateway_process.accepts(state.port)):
            self.endpoint = serve(self.server, self.folder, self.database)
        try:
            self._own().execute(RESET)
        except psycopg.OperationalError:  # a test killed it
            self._connection = None
            self._own().execute(RESET)
        for left in filter(Path.is_dir, self.folder.iterdir()):  # a spool that a test did not drain
            shutil.rmtree(left, ignore_errors=True)


def server_of_run() -> PostgresServer:
    """Start it, or join that of another worker; with the templates `template_desk` (migrated) and `template_blank`."""
    base = Path(os.environ[RUN])
    with FileLock(base / "run.lock"):
        server = PostgresServer(base / "pg", durable=False)
        if not server.alive():
            _remove_dead_runs(base.parent)
            server.start()
        if not (base / "ready").exists():
            _template(server, "template_blank")
            _template(server, "template_desk")
            migrate.apply(server.dsn("template_desk", "postgres"), MIGRATIONS)
            with psycopg.connect(server.dsn("template_desk"), autocommit=True) as connection:
                connection.execute(KEEP_SEEDS)
            (base / "ready").touch()
    return server


def clone(server: PostgresServer, template: str, database: str) -> None:
    with FileLock(Path(os.environ[RUN]) / "run.lock"), psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f'drop database if exists "{database}" with (force)')
        connection.execute(f'create database "{database}" template {template} owner postgres')


def drop(server: PostgresServer, database: str) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f'drop database if exists "{database}" with (force)')


def start_worker(name: str) -> Worker:
    server = server_of_run()
    clone(server, "template_desk", f"desk_{name}")
    folder = Path(os.environ[RUN]) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    return Worker(server, folder, f"desk_{name}", serve(server, folder, f"desk_{name}"))


def serve(server: PostgresServer, folder: Path, database: str) -> Endpoint:
    """A gateway for that database, and a server.json that lets other processes join as guests."""
    before = states.read(folder) or states.State(keys=new_keys(), guest=True)
    before = before.joined(states.Client("worker", this_process()))
    process, port = gateway_process.start(folder, server.dsn(database, "authenticator"), before.keys, before.port)
    state = replace(before, postgres=server.process(), gateway=process, port=port, dsn=server.dsn(database))
    states.write(folder, state)
    return Endpoint(state.url, state.keys.anon, state.keys.service_role, state.dsn)


def stop_worker(worker: Worker) -> None:
    worker.close()
    state = states.read(worker.folder)
    gateway_process.stop(state.gateway if state else None)


def _template(server: PostgresServer, name: str) -> None:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute(f"drop database if exists {name} with (force)")
        connection.execute(f"create database {name}")
    migrate.prepare(server.dsn(name))


def _remove_dead_runs(parent: Path) -> None:
    """A run that was killed leaves a server and a folder behind."""
    for folder in parent.glob(f"{PREFIX}*"):
        pid = folder.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and born(int(pid)) is None:
            _remove(folder)


def _remove(base: Path) -> None:
    if (base / "pg").exists():
        PostgresServer(base / "pg", durable=False).stop()
    shutil.rmtree(base, ignore_errors=True)
