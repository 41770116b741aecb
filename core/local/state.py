"""`server.json` of a data folder: what runs, on which ports, with which keys, and for whom. Mode 0600.

Written only under the folder's lock; one rename, so that it can be read without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from filelock import FileLock

from core.errors import ConfigError
from core.local.keys import Keys
from core.local.processes import Process

FILE = "server.json"
VERSION = 1


@dataclass(frozen=True)
class Client:
    """One user of the server: a token for each attach, and the process that made it."""

    token: str
    process: Process


@dataclass(frozen=True)
class State:
    """`guest`: the folder only points at a server that somebody else runs; it is joined, never started or stopped."""

    keys: Keys
    postgres: Process | None = None
    gateway: Process | None = None
    port: int = 0
    dsn: str = ""  # superuser
    migrated: str = ""  # fingerprint of what was applied
    clients: tuple[Client, ...] = ()
    guest: bool = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def living(self) -> State:
        """The same without clients whose process is gone."""
        return replace(self, clients=tuple(c for c in self.clients if c.process.alive()))

    def joined(self, client: Client) -> State:
        return replace(self, clients=(*(c for c in self.clients if c.token != client.token), client))

    def left(self, token: str) -> State:
        return replace(self, clients=tuple(c for c in self.clients if c.token != token))


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the one lock of a data folder; the kernel frees it when its holder dies. Error: ConfigError (not ours)."""
    lock = FileLock(folder / "server.lock", mode=0o600)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock.acquire()
    except OSError as refused:
        raise ConfigError(
            f"The data folder {folder} cannot be used: {refused.strerror}.",
            hint="Set MEMORY_DESK_DATA_DIR to a folder that you can write to.",
        ) from refused
    try:
        yield
    finally:
        lock.release()


def read(folder: Path) -> State | None:
    """None when there is none, or none that can be used: whoever needs a server then makes a new one."""
    try:
        values: dict[str, Any] = json.loads((folder / FILE).read_text())
        if values["version"] != VERSION:
            return None
        return State(
            keys=Keys(**values["keys"]),
            postgres=_process(values["postgres"]),
            gateway=_process(values["gateway"]),
            port=int(values["port"]),
            dsn=str(values["dsn"]),
            migrated=str(values["migrated"]),
            clients=tuple(Client(c["token"], Process(**c["process"])) for c in values["clients"]),
            guest=bool(values["guest"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(folder: Path, state: State) -> None:
    write_private(folder / FILE, {"version": VERSION, **asdict(state)})


def write_private(path: Path, values: dict[str, Any]) -> None:
    """JSON that only its owner can read, replaced as a whole."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    fd = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(fd, "w") as file:
        json.dump(values, file)
    new.replace(path)


def _process(values: dict[str, Any] | None) -> Process | None:
    return Process(**values) if values else None
