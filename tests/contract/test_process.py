"""The gateway as a process: how it starts, what it refuses, how it ends, and that it tells nobody what it saw."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import psutil
import psycopg
import pytest

from tests.contract.served import ROOT, Served, serve, write_config

if TYPE_CHECKING:
    from core.local.server import LocalSupabase

KEY = {"apikey": "service-key"}
POSIX = pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")


@pytest.fixture
def own(served: Served, tmp_path: Path) -> Any:
    """Another gateway on the same database, for tests that end it."""
    running = serve(tmp_path, authenticator(served.dsn), served.dsn)
    yield running
    running.process.kill()
    running.process.wait()


def authenticator(dsn: str) -> str:
    return psycopg.conninfo.make_conninfo(dsn, user="authenticator")


def run(config: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "core.local.gateway", "--config", str(config)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=20)


def test_ready_file(own: Served, tmp_path: Path) -> None:
    """Port and pid, for the owner alone; nothing else is left in the folder."""
    ready = tmp_path / "ready.json"
    assert json.loads(ready.read_text()) == {"port": int(own.url.rpartition(":")[2]), "pid": own.process.pid}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["gateway.json", "log.txt", "ready.json"]
    if os.name == "posix":
        assert ready.stat().st_mode & 0o777 == 0o600


def test_loopback_only(own: Served) -> None:
    """It listens on 127.0.0.1 and nowhere else."""
    listening = [c.laddr.ip for c in psutil.Process(own.process.pid).net_connections("inet") if c.status == "LISTEN"]
    assert listening == ["127.0.0.1"]


def test_another_host_is_refused(served: Served, tmp_path: Path) -> None:
    """A configuration that asks for all interfaces is an error, not a wish."""
    done = run(write_config(tmp_path, authenticator(served.dsn), host="0.0.0.0"))
    assert (done.returncode, "127.0.0.1" in done.stderr) == (2, True)


@POSIX
def test_readable_configuration_is_refused(served: Served, tmp_path: Path) -> None:
    """The file holds keys: one that others can read is refused."""
    config = write_config(tmp_path, authenticator(served.dsn))
    config.chmod(0o644)
    done = run(config)
    assert done.returncode == 2 and "0600" in done.stderr and "service-key" not in done.stderr


def test_port_in_use(served: Served, tmp_path: Path) -> None:
    """A taken port is an error in one line, with no traceback and no ready file."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run(write_config(tmp_path, authenticator(served.dsn), port=taken.getsockname()[1]))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "ready.json").exists()


@POSIX
def test_sigterm(own: Served) -> None:
    """SIGTERM ends it with code 0, also with open connections."""
    with httpx.Client(headers=KEY) as client:
        assert client.get(f"{own.url}/rest/v1/people").status_code == 200
        began = time.monotonic()
        assert own.stop() == 0
        assert time.monotonic() - began < 3


@POSIX
def test_sigterm_cancels_what_runs(own: Served) -> None:
    """A statement under way does not hold up the end."""
    asking = threading.Thread(target=lambda: _quietly(f"{own.url}/rest/v1/rpc/long_nap?seconds=15"))
    asking.start()
    time.sleep(0.5)
    began = time.monotonic()
    assert own.stop() == 0
    assert time.monotonic() - began < 6
    asking.join()


def _quietly(url: str) -> None:
    try:
        httpx.get(url, headers=KEY, timeout=30)
    except httpx.HTTPError:
        return


def test_it_is_small(own: Served) -> None:
    """Under 90 MB after some work, without the libraries of the application."""
    for _ in range(20):
        httpx.get(f"{own.url}/rest/v1/many", headers=KEY)
    assert psutil.Process(own.process.pid).memory_info().rss < 90e6
    code = "import sys, core.local.gateway.__main__; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True).stdout.split()
    assert "psycopg" in loaded
    assert not {"streamlit", "pandas", "numpy", "supabase", "postgrest", "google.genai", "pydantic"} & set(loaded)


def test_nothing_is_logged(own: Served) -> None:
    """No body, URL, parameter or key reaches its output, whether the request succeeded or failed."""
    for path in ("/people?name=eq.SECRETNAME", "/people?name=SECRETNAME", "/SECRETNAME", "/people?id=eq.SECRETNAME"):
        httpx.get(f"{own.url}/rest/v1{path}", headers=KEY)
    httpx.post(f"{own.url}/rest/v1/people", json={"id": "SECRETNAME"}, headers=KEY)
    httpx.post(f"{own.url}/rest/v1/people", content="SECRETNAME", headers=KEY)
    httpx.get(f"{own.url}/rest/v1/people", headers={"apikey": "SECRETNAME"})
    with socket.create_connection(("127.0.0.1", int(own.url.rpartition(":")[2]))) as connection:
        connection.sendall(b"SECRETNAME nonsense\r\n\r\n")
        connection.recv(1000)
    own.process.terminate()
    own.process.wait(10)
    assert "SECRETNAME" not in own.log.read_text() and "service-key" not in own.log.read_text()


def test_database_restarts(fresh_supabase: LocalSupabase, tmp_path: Path) -> None:
    """Without a database the answer is 503 at once; when it is back no request fails for a connection of before."""
    from core.local.postgres import PostgresServer

    server = PostgresServer(fresh_supabase.data_dir / "pg")
    dsn = psycopg.conninfo.make_conninfo(fresh_supabase.endpoint.dsn, user="authenticator")
    own = serve(tmp_path, dsn, fresh_supabase.endpoint.dsn)
    try:
        with httpx.Client(base_url=f"{own.url}/rest/v1", headers=KEY, timeout=20) as client:
            table = "/desk_meta?select=key&limit=1"
            assert client.get(table).status_code == 200
            for _ in range(3):
                server.stop()
                began = time.monotonic()
                reply = client.get(table)
                assert (reply.status_code, reply.json()["code"]) == (503, "PGRST000")
                assert time.monotonic() - began < 1
                server.start()
                assert [client.get(table).status_code for _ in range(5)] == [200] * 5
                assert client.post("/desk_meta", json={}).status_code == 400  # a write is not retried by any client
    finally:
        own.process.send_signal(signal.SIGTERM)
        own.process.wait(10)


def test_through_the_products_own_endpoint(endpoint: Any) -> None:
    """The embedded Supabase of the product serves the same slice: its JWT keys give their roles."""
    overview = f"{endpoint.url}/rest/v1/rpc/desk_overview"
    for key, expected in ((endpoint.service_role_key, 200), (endpoint.anon_key, 401)):
        assert httpx.post(overview, json={}, headers={"apikey": key}).status_code == expected
        assert httpx.get(f"{endpoint.url}/auth/v1/health", headers={"apikey": key}).status_code == 200
    assert httpx.get(f"{endpoint.url}/auth/v1/health").status_code == 401
