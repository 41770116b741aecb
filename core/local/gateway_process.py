"""Start and stop the gateway, a process of its own: within the application's it would wait for its GIL (7x slower)."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

from core.errors import DatabaseUnavailable
from core.local.keys import Keys
from core.local.processes import Process, find, poll, signal_all
from core.local.state import write_private

ROOT = Path(__file__).resolve().parents[2]
READY = "gateway-ready.json"
START_TIMEOUT_S = 60.0
PATIENCE_S = 5.0
PORT_WAIT_S = 2.0
MAX_ROWS = 1000
PASSED_ON = (
    "PATH",
    "HOME",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "VIRTUAL_ENV",
    "PYTHONPATH",
    "LD_LIBRARY_PATH",
    "COVERAGE_PROCESS_START",
)


def start(folder: Path, dsn: str, keys: Keys, port: int) -> tuple[Process, int]:
    """Start it for the database of `dsn` (role authenticator) and wait until it listens; its process and port.

    `port`: the one it had, taken again where it is free; else any. Error: DatabaseUnavailable.
    """
    # a killed gateway's threads may hold the port for a moment after its first thread is gone
    again = bool(port) and poll(lambda: port_is_free(port), PORT_WAIT_S)
    for wanted in (port, 0) if again else (0,):
        process = _start(folder, dsn, keys, wanted)
        if process is not None:
            return process, int(_ready(folder)["port"])
    raise DatabaseUnavailable(
        "The gateway of the embedded database did not start.",
        hint=f"The reason is at the end of {folder / 'gateway.log'}.",
    )


def stop(process: Process | None) -> None:
    """Ask, then insist. Idempotent."""
    if process is None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        signal_all([process], number)
        if process.wait(PATIENCE_S):
            return


def port_is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def accepts(port: int, timeout_s: float = 2.0) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=timeout_s).close()
    except OSError:
        return False
    return True


def _start(folder: Path, dsn: str, keys: Keys, port: int) -> Process | None:
    config = folder / "gateway.json"
    (folder / READY).unlink(missing_ok=True)
    values = {"dsn": dsn, "port": port, "ready_file": str(folder / READY), "keys": keys.roles(), "max_rows": MAX_ROWS}
    write_private(config, {**values, "jwt_secret": keys.jwt_secret})
    log = os.open(folder / "gateway.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        child = subprocess.Popen(
            [sys.executable, "-m", "core.local.attendant", "--data-dir", folder, "--config", config],
            cwd=ROOT,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},  # none of our secrets
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    finally:
        os.close(log)
    poll(lambda: _ready(folder).get("pid") == child.pid or child.poll() is not None, START_TIMEOUT_S)
    if _ready(folder).get("pid") == child.pid and (process := find(child.pid)):
        return process
    child.kill()
    child.wait()
    return None


def _ready(folder: Path) -> dict[str, int]:
    try:
        values: dict[str, int] = json.loads((folder / READY).read_text())
        return values
    except (OSError, ValueError):
        return {}
