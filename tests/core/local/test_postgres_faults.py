"""What a killed, crashed or moved server leaves behind, and that the next start works and no committed row is lost."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from core.errors import DatabaseUnavailable
from core.local.postgres import PostgresServer
from core.local.processes import Process, poll, postgres_workers


@pytest.fixture
def server(data_dir: Path) -> Iterator[PostgresServer]:
    """A running server with one committed row."""
    running = PostgresServer(data_dir / "pg", durable=False)
    running.start()
    with psycopg.connect(running.dsn(), autocommit=True) as connection:
        connection.execute("create table t (id bigserial primary key, text text)")
        connection.execute("insert into t (text) values ('kept')")
    yield running
    running.stop()


def count(server: PostgresServer) -> int:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        row = connection.execute("select count(*) from t").fetchone()
        assert row
        return int(row[0])


def postmaster(server: PostgresServer) -> Process:
    found = server.process()
    assert found is not None
    return found


def kill(server: PostgresServer) -> str:
    """Kill the postmaster and wait until its backends are gone too; the text of the pid file it leaves."""
    victim = postmaster(server)
    os.kill(victim.pid, signal.SIGKILL)
    assert poll(lambda: not server.alive() and not postgres_workers(server.pgdata).here, 15)
    return (server.pgdata / "postmaster.pid").read_text()


def rewrite_pid(server: PostgresServer, pid: int) -> None:
    """As if that pid had been the server's: pid file and socket lock name it."""
    for path in (server.pgdata / "postmaster.pid", server.pgdata / ".s.PGSQL.5432.lock"):
        path.write_text(f"{pid}\n" + path.read_text().partition("\n")[2])


def test_a_killed_postmaster_is_started_again(server: PostgresServer) -> None:
    """Its pid file and sockets are stale, and the row is there."""
    kill(server)
    server.start()
    assert server.alive() and count(server) == 1


def test_a_kill_amid_inserts_loses_no_committed_row(server: PostgresServer) -> None:
    """Every insert that was acknowledged is found after recovery."""
    acknowledged = 0
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        started = time.monotonic()
        try:
            while True:
                if time.monotonic() - started > 0.5 and acknowledged > 20:
                    os.kill(postmaster(server).pid, signal.SIGKILL)
                connection.execute("insert into t (text) select repeat('x', 500) from generate_series(1, 20)")
                acknowledged += 20
        except (psycopg.OperationalError, AssertionError):
            pass
    server.start()
    assert count(server) >= acknowledged + 1


def test_a_pid_that_went_to_another_program_is_not_the_server(server: PostgresServer) -> None:
    """As after a power cut: an unrelated process now has the pid. It is neither joined nor harmed."""
    kill(server)
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    try:
        rewrite_pid(server, other.pid)
        assert not server.alive()
        server.start()
        assert count(server) == 1 and other.poll() is None
    finally:
        other.kill()
        other.wait()


def test_a_zombie_is_not_the_server(server: PostgresServer) -> None:
    """In a container whose first process reaps nobody, the dead postmaster keeps its pid."""
    kill(server)
    zombie = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
    rewrite_pid(server, zombie.pid)
    assert not server.alive()
    server.start()
    assert count(server) == 1
    zombie.wait()


@pytest.mark.parametrize("text", ["", "17", "garbage\n\n"])
def test_a_cut_off_pid_file_is_no_obstacle(server: PostgresServer, text: str) -> None:
    """After a crash with a full disk."""
    kill(server)
    (server.pgdata / "postmaster.pid").write_text(text)
    server.start()
    assert count(server) == 1


def test_a_living_server_without_its_pid_file_is_ended_first(server: PostgresServer) -> None:
    """It cannot be told apart from a lost one; two on the same files would destroy them."""
    before = postmaster(server)
    (server.pgdata / "postmaster.pid").write_text("")
    server.start()
    assert not before.alive() and count(server) == 1


def test_a_backend_that_outlives_its_postmaster_is_ended_first(server: PostgresServer) -> None:
    """A stopped backend still has the files open: its end is awaited before anything is removed."""
    with psycopg.connect(server.dsn()) as connection:
        backend = connection.info.backend_pid
        os.kill(backend, signal.SIGSTOP)
        os.kill(postmaster(server).pid, signal.SIGKILL)
        assert poll(lambda: not server.alive(), 5)
        assert backend in [w.pid for w in postgres_workers(server.pgdata).here]
        server.start()
        assert backend not in [w.pid for w in postgres_workers(server.pgdata).here]
    assert count(server) == 1


def test_a_server_out_of_sight_is_respected(server: PostgresServer) -> None:
    """Another container's processes cannot be seen, its lock can: no file is removed, and the error says so."""
    kill(server)
    left = {path.name for path in server.pgdata.iterdir()}
    with (server.pgdata / "memory-desk.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(DatabaseUnavailable, match="in use from elsewhere"):
            server.start()
        assert {path.name for path in server.pgdata.iterdir()} == left
    server.start()
    assert count(server) == 1


def test_a_server_outlives_its_starter_and_is_adopted(data_dir: Path) -> None:
    """The starter is killed; the next process joins the same server and can stop it."""
    code = (
        "import sys, time; from pathlib import Path; from core.local.postgres import PostgresServer;"
        "s = PostgresServer(Path(sys.argv[1]), durable=False); s.start(); print(s.process().pid, flush=True);"
        "time.sleep(60)"
    )
    command = [sys.executable, "-c", code, str(data_dir / "pg")]
    starter = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert starter.stdout
    pid = int(starter.stdout.readline())
    starter.kill()
    starter.wait()
    starter.stdout.close()
    server = PostgresServer(data_dir / "pg")
    server.start()
    assert postmaster(server).pid == pid
    server.stop()
    assert postgres_workers(server.pgdata).here == ()


def test_slow_recovery_is_waited_for(server: PostgresServer) -> None:
    """Who has no patience is told that it goes on; who comes next waits and gets the server."""
    kill(server)
    hasty = PostgresServer(server.pgdata, patience_s=0)
    with pytest.raises(DatabaseUnavailable, match="still recovering") as told:
        hasty.start()
    assert told.value.retryable
    server.start()
    assert server.alive() and count(server) == 1


def test_a_server_whose_files_were_deleted_makes_way(server: PostgresServer, data_dir: Path) -> None:
    """The old one is ended, the new one starts empty in the same place."""
    before = postmaster(server)
    subprocess.run(["rm", "-rf", str(data_dir)], check=True)
    fresh = PostgresServer(data_dir / "pg", durable=False)
    fresh.start()
    assert not before.alive() and fresh.alive()
    with pytest.raises(psycopg.errors.UndefinedTable):
        count(fresh)
    fresh.stop()


def test_a_start_that_fails_says_why(server: PostgresServer) -> None:
    """With the end of the log, and no server left behind."""
    server.stop()
    control = server.pgdata / "global/pg_control"
    kept = control.read_bytes()
    control.write_bytes(b"nonsense")
    with pytest.raises(DatabaseUnavailable, match="did not start") as told:
        server.start()
    assert str(server.log) in told.value.hint and "pg_control" in told.value.detail
    control.write_bytes(kept)
    server.start()
    assert count(server) == 1
