"""The embedded Supabase of one data folder, shared by processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO

import psycopg
import pytest

from core.errors import DatabaseUnavailable, SchemaMismatch
from core.local import state as states
from core.local.processes import poll, postgres_workers
from core.local.server import Endpoint, LocalSupabase

TABLE = "create table public.t (id int primary key);\ninsert into public.t values (1);\n"
CHILD = """
import sys
from pathlib import Path
from core.local.server import LocalSupabase
here = LocalSupabase.attach(Path(sys.argv[1]), migrations=Path(sys.argv[2]), durable=False)
print(here.endpoint.url, 'psycopg' in sys.modules, flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def migrations(tmp_path: Path) -> Path:
    folder = tmp_path / "migrations"
    folder.mkdir()
    (folder / "20260101000000_t.sql").write_text(TABLE)
    return folder


@pytest.fixture
def supabase(data_dir: Path, migrations: Path) -> Iterator[LocalSupabase]:
    here = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    yield here
    here.close()


class Child:
    """Another process that is attached to a data folder until it is told to go."""

    def __init__(self, data_dir: Path, migrations: Path) -> None:
        pipe = subprocess.PIPE
        command = [sys.executable, "-c", CHILD, str(data_dir), str(migrations)]
        # A shell's background job ignores SIGINT, and children inherit that.
        heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, preexec_fn=heed)
        self.said = self._pipe(self.process.stdout).readline().split()

    def end(self, number: int = 0) -> int:
        """Let it go, or send it a signal; its exit code."""
        if number:
            self.process.send_signal(number)
        self.process.communicate(timeout=30)
        return self.process.returncode

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


def rows(endpoint: Endpoint, key: str | None = None) -> object:
    key = key or endpoint.service_role_key
    headers = {"apikey": key, "Authorization": f"Bearer {key}"}
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint.url}/rest/v1/t?select=id", headers=headers)) as got:
        return json.load(got)


def runs(data_dir: Path) -> bool:
    state = states.read(data_dir)
    gateway = bool(state and state.gateway and state.gateway.alive())
    return gateway or bool(postgres_workers(data_dir / "pg").here)


def test_it_serves_what_the_migrations_made(supabase: LocalSupabase, data_dir: Path) -> None:
    """Through the gateway, on loopback, with keys that nobody else can read."""
    assert rows(supabase.endpoint) == [{"id": 1}]
    assert supabase.endpoint.url.startswith("http://127.0.0.1:")
    for name in ("server.json", "gateway.json", "server.lock", "pg.log", "gateway.log", "gateway-ready.json"):
        assert stat.S_IMODE((data_dir / name).stat().st_mode) == 0o600, name
    assert stat.S_IMODE(data_dir.stat().st_mode) & 0o066 == 0
    assert supabase.endpoint.service_role_key not in repr(supabase.endpoint)


def test_the_last_one_to_leave_stops_it(supabase: LocalSupabase, data_dir: Path, migrations: Path) -> None:
    """A second attach in the same process counts as its own; closing twice counts once."""
    second = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert second.endpoint == supabase.endpoint
    second.close()
    second.close()
    assert rows(supabase.endpoint) == [{"id": 1}]
    supabase.close()
    assert not runs(data_dir)


def test_the_next_start_has_the_same_keys_port_and_rows(
    supabase: LocalSupabase, data_dir: Path, migrations: Path
) -> None:
    """Keys belong to the folder; the port is taken again where it is free."""
    before = supabase.endpoint
    supabase.close()
    again = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert (again.endpoint.url, again.endpoint.anon_key) == (before.url, before.anon_key)
    assert rows(again.endpoint) == [{"id": 1}]
    again.close()
    with socket.socket() as taken:
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taken.bind(("127.0.0.1", int(before.url.rpartition(":")[2])))
        taken.listen()
        third = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
        assert third.endpoint.url != before.url and rows(third.endpoint) == [{"id": 1}]
        third.close()


def test_another_process_joins_and_starts_nothing(supabase: LocalSupabase, data_dir: Path, migrations: Path) -> None:
    """It does not even load the database driver; when it ends, the server stays."""
    before = states.read(data_dir)
    child = Child(data_dir, migrations)
    assert child.said == [supabase.endpoint.url, "False"]
    after = states.read(data_dir)
    assert before and after and (after.postgres, after.gateway) == (before.postgres, before.gateway)
    assert len(after.clients) == 2
    assert child.end() == 0
    assert rows(supabase.endpoint) == [{"id": 1}]


def test_two_processes_at_once_share_one_server(data_dir: Path, migrations: Path) -> None:
    """On a fresh folder; each migration runs once, and with the last of them everything ends."""
    command = [sys.executable, "-c", CHILD, str(data_dir), str(migrations)]
    both = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert poll(lambda: len((states.read(data_dir) or states.State(keys=None)).clients) == 2, 60)  # type: ignore[arg-type]
    urls = {child.communicate(timeout=30)[0].split()[0] for child in both}
    assert len(urls) == 1 and not runs(data_dir)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_signal_stops_the_server_as_well(data_dir: Path, migrations: Path, number: int) -> None:
    """A script that set no handler of its own still leaves properly."""
    child = Child(data_dir, migrations)
    assert runs(data_dir)
    assert child.end(number) != 0
    assert not runs(data_dir)


def test_a_handler_that_was_there_stays(supabase: LocalSupabase, data_dir: Path, migrations: Path) -> None:
    """Streamlit's and uvicorn's own handling of SIGTERM is not taken away."""
    mine = signal.signal(signal.SIGTERM, lambda *_: None)
    try:
        before = signal.getsignal(signal.SIGTERM)
        LocalSupabase.attach(data_dir, migrations=migrations, durable=False).close()
        assert signal.getsignal(signal.SIGTERM) is before
    finally:
        signal.signal(signal.SIGTERM, mine)


def test_new_migrations_reach_a_running_server(supabase: LocalSupabase, data_dir: Path, migrations: Path) -> None:
    """A newer version of the program joins an older one's server and brings what is missing."""
    (migrations / "20260102000000_more.sql").write_text("insert into public.t values (2);")
    LocalSupabase.attach(data_dir, migrations=migrations, durable=False).close()
    assert rows(supabase.endpoint) == [{"id": 1}, {"id": 2}]


def test_a_broken_migration_leaves_nothing_running(data_dir: Path, migrations: Path) -> None:
    """The error names it; once it is right, the start works."""
    path = migrations / "20260102000000_more.sql"
    path.write_text("select nonsense;")
    with pytest.raises(SchemaMismatch, match=r"20260102000000_more\.sql"):
        LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert not runs(data_dir)
    path.write_text("select 1;")
    here = LocalSupabase.attach(data_dir, migrations=migrations, durable=False)
    assert rows(here.endpoint) == [{"id": 1}]
    here.close()


def test_a_guest_joins_and_never_starts_or_stops(supabase: LocalSupabase, data_dir: Path, migrations: Path) -> None:
    """A folder that only points at the server of another one; without that server it says so."""
    guest_dir = data_dir.with_name("guest")
    guest_dir.mkdir()
    state = states.read(data_dir)
    assert state is not None
    states.write(guest_dir, states.State(state.keys, state.postgres, state.gateway, state.port, state.dsn, guest=True))
    guest = LocalSupabase.attach(guest_dir, migrations=migrations)
    assert guest.revive() == supabase.endpoint
    guest.close()
    assert rows(supabase.endpoint) == [{"id": 1}]
    supabase.close()
    with pytest.raises(DatabaseUnavailable, match="points at"):
        LocalSupabase.attach(guest_dir, migrations=migrations)


def test_row_level_security_is_real(supabase: LocalSupabase) -> None:
    """The anon key sees nothing of a protected table, the service role all of it."""
    with psycopg.connect(supabase.endpoint.dsn, autocommit=True) as connection:
        connection.execute("alter table public.t enable row level security")
    assert rows(supabase.endpoint, supabase.endpoint.anon_key) == []
    assert rows(supabase.endpoint) == [{"id": 1}]


def test_a_forked_child_does_not_leave_for_its_parent(supabase: LocalSupabase, data_dir: Path) -> None:
    """It has the object and the exit hook, and another process id."""
    child = os.fork()
    if child == 0:
        supabase.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert rows(supabase.endpoint) == [{"id": 1}]
