"""Kill the application, the gateway, the database, all of them: the next call or start works, no row is lost."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from core.local import gateway_process
from core.local import state as states
from core.local.processes import Process, find, poll, postgres_workers
from core.local.server import Endpoint, LocalSupabase
from core.local.state import State

STARTER = """
import sys, time
from pathlib import Path
from core.local.server import LocalSupabase
here = LocalSupabase.attach(Path(sys.argv[1]), migrations=Path(sys.argv[2]), durable=False)
print(here.endpoint.url, flush=True)
time.sleep(60)
"""


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    (tmp_path / "20260101000000_t.sql").write_text("create table public.t (id serial primary key);")
    return tmp_path


@pytest.fixture
def supabase(data_dir: Path, migrations: Path) -> Iterator[LocalSupabase]:
    """A running one, with a committed row."""
    here = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    with psycopg.connect(here.endpoint.dsn, autocommit=True) as connection:
        connection.execute("insert into public.t default values")
    yield here
    here.close()


def state_of(data_dir: Path) -> State:
    state = states.read(data_dir)
    assert state is not None
    return state


def kill(process: Process | None) -> None:
    assert process is not None
    os.kill(process.pid, signal.SIGKILL)
    assert process.wait(10)


def rows(endpoint: Endpoint) -> int:
    """Through the gateway, on the first try."""
    import json
    import urllib.request

    headers = {"apikey": endpoint.service_role_key, "Authorization": f"Bearer {endpoint.service_role_key}"}
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint.url}/rest/v1/t?select=id", headers=headers)) as got:
        return len(json.load(got))


def test_a_killed_gateway_comes_back_on_its_port(supabase: LocalSupabase, data_dir: Path) -> None:
    """With the same keys, and the database untouched."""
    before, endpoint = state_of(data_dir), supabase.endpoint
    kill(before.gateway)
    assert supabase.revive() == endpoint and rows(endpoint) == 1
    assert state_of(data_dir).postgres == before.postgres


def test_a_killed_database_comes_back_with_its_rows(supabase: LocalSupabase, data_dir: Path) -> None:
    """The gateway goes on, and its first answer after that is right."""
    before = state_of(data_dir)
    kill(before.postgres)
    supabase.revive()
    assert rows(supabase.endpoint) == 1
    after = state_of(data_dir)
    assert after.gateway == before.gateway and after.postgres != before.postgres


def test_a_killed_backend_is_waited_for(supabase: LocalSupabase, data_dir: Path) -> None:
    """Postgres restarts all backends by itself; `revive` returns when it lets people in again."""
    with psycopg.connect(supabase.endpoint.dsn, autocommit=True) as connection:
        os.kill(connection.info.backend_pid, signal.SIGKILL)
    supabase.revive()
    psycopg.connect(supabase.endpoint.dsn).close()
    assert rows(supabase.endpoint) == 1


def test_both_killed_come_back(supabase: LocalSupabase, data_dir: Path) -> None:
    """In one call; a second call finds all alive and changes nothing."""
    before = state_of(data_dir)
    kill(before.gateway)
    kill(before.postgres)
    supabase.revive()
    assert rows(supabase.endpoint) == 1
    after = state_of(data_dir)
    supabase.revive()
    assert state_of(data_dir) == after


def test_a_gateway_that_hangs_is_replaced(
    supabase: LocalSupabase, data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lives, its port accepts, and it never answers."""
    monkeypatch.setattr("core.local.server.HEALTH_TIMEOUT_S", 0.5)
    monkeypatch.setattr(gateway_process, "PATIENCE_S", 0.5)
    before = state_of(data_dir).gateway
    assert before is not None
    os.kill(before.pid, signal.SIGSTOP)
    supabase.revive()
    assert not before.alive() and rows(supabase.endpoint) == 1


def test_a_killed_application_leaves_a_server_that_the_next_one_adopts(data_dir: Path, migrations: Path) -> None:
    """Its dead entry is dropped, so the next one is the last one, and stops everything."""
    command = [sys.executable, "-c", STARTER, str(data_dir), str(migrations)]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    url = starter.stdout.readline().strip()
    starter.kill()
    starter.communicate()
    orphan = state_of(data_dir)
    here = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert here.endpoint.url == url
    assert (state_of(data_dir).postgres, len(state_of(data_dir).clients)) == (orphan.postgres, 1)
    here.close()
    assert not postgres_workers(data_dir / "pg").here and not (orphan.gateway and orphan.gateway.alive())


def test_everything_killed_at_once(data_dir: Path, migrations: Path) -> None:
    """As when the machine loses power: application, gateway, database. The next start has the row."""
    first = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    with psycopg.connect(first.endpoint.dsn, autocommit=True) as connection:
        connection.execute("insert into public.t default values")
    state = state_of(data_dir)
    kill(state.gateway)
    kill(state.postgres)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:  # and both pids now belong to somebody else
        reused = Process(other.pid, "of another boot")
        states.write(data_dir, State(state.keys, reused, reused, state.port, state.dsn, state.migrated, ()))
        here = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
        assert rows(here.endpoint) == 1 and other.poll() is None
        here.close()
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("text", ["", '{"version": 1, "keys"'])
def test_a_spoilt_server_json_is_replaced(supabase: LocalSupabase, data_dir: Path, migrations: Path, text: str) -> None:
    """The running database is adopted; who was there before goes on with the keys it has."""
    postgres = state_of(data_dir).postgres
    (data_dir / "server.json").write_text(text)
    endpoint = supabase.revive()
    assert rows(endpoint) == 1
    assert state_of(data_dir).postgres == postgres
    second = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert second.endpoint == endpoint
    second.close()


def test_a_deleted_data_folder_is_made_again(supabase: LocalSupabase, data_dir: Path) -> None:
    """Under the running server: the old processes end, the survivor's keys are good for the new, empty one."""
    old, keys = state_of(data_dir), supabase.endpoint.service_role_key
    shutil.rmtree(data_dir)
    endpoint = supabase.revive()
    assert endpoint.service_role_key == keys and rows(endpoint) == 0
    assert old.postgres is not None and not old.postgres.alive()
    gateway_process.stop(old.gateway)  # else it ends by itself, seconds later


def test_an_abandoned_server_ends_by_itself(data_dir: Path, migrations: Path) -> None:
    """Nobody comes after the application was killed: gateway and database are gone within half a minute."""
    command = [sys.executable, "-c", STARTER, str(data_dir), str(migrations)]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert starter.stdout and starter.stdout.readline()
    starter.kill()
    starter.communicate()
    gateway = state_of(data_dir).gateway
    assert gateway is not None and find(gateway.pid) == gateway
    assert poll(lambda: not gateway.alive() and not postgres_workers(data_dir / "pg").here, 60, every=0.5)
    assert state_of(data_dir).postgres is None
