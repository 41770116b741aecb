"""The gateway's process: the gateway itself, and a thread that looks whether anybody is still there.

An application that was killed cannot say good-bye. When no client has been alive for a while, this process stops
Postgres and then itself; when another gateway has taken its place, or the folder is gone, only itself.
"""

from __future__ import annotations

import argparse
import os
import runpy
import signal
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

from core.local import state as states
from core.local.postgres import PostgresServer
from core.local.processes import this_process

LOOK_EVERY_S = 4.0
ALONE_FOR_S = 20.0
LOG_LIMIT = 5_000_000  # bytes; nobody rotates these, and their end is what matters


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="core.local.attendant")
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--config", required=True)
    given = parser.parse_args(arguments)
    threading.Thread(target=attend, args=(given.data_dir,), daemon=True, name="attendant").start()
    sys.argv = ["core.local.gateway", "--config", given.config]
    runpy.run_module("core.local.gateway", run_name="__main__")


def attend(folder: Path, look_every_s: float = LOOK_EVERY_S, alone_for_s: float = ALONE_FOR_S) -> None:
    """Returns after it has told this process to end."""
    seen = time.monotonic()
    while time.monotonic() - seen < alone_for_s:
        time.sleep(look_every_s)
        if _needed(folder):
            seen = time.monotonic()
        for log in (folder / "pg.log", folder / "gateway.log"):
            if log.exists() and log.stat().st_size > LOG_LIMIT:
                os.truncate(log, 0)
        if time.monotonic() - seen >= alone_for_s and not _close(folder):
            seen = time.monotonic()
    os.kill(os.getpid(), signal.SIGTERM)


def _needed(folder: Path) -> bool:
    state = states.read(folder)
    return bool(state and state.gateway == this_process() and state.living().clients)


def _close(folder: Path) -> bool:
    """Under the lock, look once more; False when somebody came in the meantime."""
    if not folder.exists():
        return True
    with states.locked(folder):
        state = states.read(folder)
        if state is None or state.gateway != this_process():
            return True
        if state.living().clients:
            return False
        if not state.guest:
            PostgresServer(folder / "pg").stop()
            state = replace(state, postgres=None)
        states.write(folder, replace(state, gateway=None, clients=()))
        return True


if __name__ == "__main__":
    main(sys.argv[1:])
