"""The embedded Supabase of one data folder: Postgres and gateway, shared by every process that attaches to it."""

from __future__ import annotations

import atexit
import hashlib
import http.client
import os
import secrets
import signal
import socket
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from core.errors import ConfigError, DatabaseUnavailable
from core.local import gateway_process as gateway
from core.local import state as states
from core.local.keys import Keys, new_keys
from core.local.processes import poll, this_process
from core.local.state import Client, State

if TYPE_CHECKING:
    from core.local.postgres import PostgresServer

HEALTH_TIMEOUT_S = 10.0
LOGIN_TIMEOUT_S = 20.0


@dataclass(frozen=True)
class Endpoint:
    """What a client needs. `dsn` is a libpq connection string for the superuser, over a Unix socket."""

    url: str
    anon_key: str = field(repr=False)
    service_role_key: str = field(repr=False)
    dsn: str = field(repr=False)


class LocalSupabase:
    """One attachment to the server of a data folder. Thread-safe: what changes anything holds the folder's lock."""

    def __init__(self, data_dir: Path, migrations: Path, major: int | None, durable: bool) -> None:
        if os.name != "posix":
            raise ConfigError(
                "The embedded database runs on Linux and macOS only.",
                hint="On Windows use WSL, or a hosted database: BESCO_SUPABASE_URL and its key.",
            )
        self.data_dir = data_dir.expanduser().absolute()
        self._migrations = migrations
        self._major = major
        self._durable = durable
        self._client = Client(secrets.token_hex(8), this_process())
        self.endpoint: Endpoint

    @classmethod
    def attach(
        cls, data_dir: Path, *, migrations: Path, major: int | None = None, durable: bool = True
    ) -> LocalSupabase:
        """Join the server of that folder, or start it: Postgres, roles, migrations, gateway.

        `durable=False` does not wait for the disk, for tests: a killed process loses nothing, a power cut may.
        Errors: ConfigError (folder, account, wheel), DatabaseUnavailable (no start), SchemaMismatch (a migration).
        """
        here = cls(data_dir, migrations, major, durable)
        here._serve(None)
        atexit.register(here.close)
        _leave_on_sigterm()
        return here

    def revive(self) -> Endpoint:
        """Whatever is dead is started again, on the same port where that is free; returns what to use from now on.

        Cheap while all is alive. A gateway that lives and does not answer within ten seconds is replaced.
        """
        state = states.read(self.data_dir)
        if state and self._serves(state) and _answers(state):
            self.endpoint = _endpoint(state)
        else:
            self._serve(Keys("", self.endpoint.anon_key, self.endpoint.service_role_key), look_closely=True)
        _wait_for_login(self.endpoint.dsn)
        return self.endpoint

    def close(self) -> None:
        """Leave. The last living client stops gateway and Postgres. Idempotent; nothing in a forked child."""
        atexit.unregister(self.close)
        if self._client.process != this_process() or not self.data_dir.exists():
            return
        with states.locked(self.data_dir):
            state = states.read(self.data_dir)
            if state is None or state.guest or self._client not in state.clients:
                return
            state = state.left(self._client.token).living()
            if not state.clients:
                from core.local.postgres import PostgresServer

                gateway.stop(state.gateway)
                PostgresServer(self.data_dir / "pg").stop()
                state = replace(state, gateway=None, postgres=None)
            states.write(self.data_dir, state)

    def _serve(self, known: Keys | None, *, look_closely: bool = False) -> None:
        """Under the lock: have everything running and this client counted."""
        with states.locked(self.data_dir):
            state = states.read(self.data_dir)
            if state is None or not self._serves(state) or (look_closely and not _answers(state)):
                state = self._start(state, known)
            if not state.guest:
                state = state.living().joined(self._client)
                states.write(self.data_dir, state)
            self.endpoint = _endpoint(state)

    def _serves(self, state: State) -> bool:
        """Everything that the state names is alive, accepts connections, and has the migrations we have."""
        return (
            state.postgres is not None
            and state.postgres.alive()
            and state.gateway is not None
            and state.gateway.alive()
            and gateway.accepts(state.port)
            and _database_accepts(state.dsn)
            and (state.guest or state.migrated == fingerprint(self._migrations))
        )

    def _start(self, state: State | None, known: Keys | None) -> State:
        """Postgres, migrations, gateway: each only where it is missing. Imports here, so that joining stays cheap."""
        if state and state.guest:
            raise DatabaseUnavailable(f"The server that {self.data_dir} points at does not run.", retryable=False)
        from core.local.postgres import PostgresServer

        before = (state or State(keys=_renewed(known))).living()
        server = PostgresServer(self.data_dir / "pg", major=self._major, durable=self._durable)
        try:
            return self._complete(before, server)
        except BaseException:
            if not before.clients:  # nobody else needs it, and nobody would stop it
                gateway.stop(before.gateway)
                server.stop()
            raise

    def _complete(self, before: State, server: PostgresServer) -> State:
        from core.local import migrate

        server.start()
        now = replace(before, postgres=server.process(), dsn=server.dsn())
        wanted = fingerprint(self._migrations)
        if now.postgres != before.postgres or before.migrated != wanted:
            migrate.prepare(server.dsn())
            migrate.apply(server.dsn(user="postgres"), self._migrations)
            now = replace(now, migrated=wanted)
        if not (_alive(before) and before.dsn == now.dsn and _answers(before)):
            gateway.stop(before.gateway)
            process, port = gateway.start(self.data_dir, server.dsn(user="authenticator"), now.keys, before.port)
            now = replace(now, gateway=process, port=port)
        return now


def fingerprint(migrations: Path) -> str:
    """Changes when a migration, or what we prepare before them, does."""
    digest = hashlib.sha256()
    for path in (Path(__file__).with_name("roles.sql"), *sorted(migrations.glob("*.sql"))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def _renewed(known: Keys | None) -> Keys:
    """New keys; a client that survived its data folder goes on with the ones it has."""
    fresh = new_keys()
    return replace(fresh, anon=known.anon, service_role=known.service_role) if known else fresh


def _endpoint(state: State) -> Endpoint:
    return Endpoint(state.url, state.keys.anon, state.keys.service_role, state.dsn)


def _alive(state: State) -> bool:
    return state.gateway is not None and state.gateway.alive() and gateway.accepts(state.port)


def _answers(state: State) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", state.port, timeout=HEALTH_TIMEOUT_S)
    try:
        connection.request("GET", "/auth/v1/health", headers={"apikey": state.keys.service_role})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _database_accepts(dsn: str) -> bool:
    """The socket of a libpq string of ours takes a connection; no login."""
    from core.local.cluster import SOCKET, socket_of

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(2.0)
        try:
            probe.connect(f"{socket_of(dsn)}/{SOCKET}")
        except OSError:
            return False
    return True


def _wait_for_login(dsn: str) -> None:
    """After the crash of one backend all are restarted: it accepts connections, and for a second refuses each."""
    import psycopg

    def logs_in() -> bool:
        try:
            psycopg.connect(dsn, connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    if not poll(logs_in, LOGIN_TIMEOUT_S, every=0.1):
        raise DatabaseUnavailable("The database does not let anybody in.", hint="Try again, or restart Memory Desk.")


def _leave_on_sigterm() -> None:
    """Let SIGTERM end this process as an exit does, so that close() runs. A handler that somebody else set stays."""
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)
