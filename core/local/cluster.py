"""The files of one Postgres data folder: making it, its settings, its pid file, its socket."""

from __future__ import annotations

import contextlib
import os
import platform
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from core.errors import DatabaseUnavailable
from core.local.account import Account
from core.local.processes import poll, postgres_workers, signal_all

SUPERUSER = "supabase_admin"  # as on a hosted project, where `postgres` owns things and is no superuser
SOCKET = ".s.PGSQL.5432"
SOCKET_PATH_LIMIT = 100  # bytes; the kernel's is 104 (macOS) or 108 (Linux) with the closing zero
SHORT_SOCKET_PREFIX = "memory-desk-pg-"
SHM_WANTED = 600 * 2**20


@dataclass(frozen=True)
class PidFile:
    """What postmaster.pid says. It says nothing about whether that process lives."""

    pid: int
    socket_folder: str
    status: str


def read_pid_file(pgdata: Path) -> PidFile | None:
    """None when there is none or it is cut off, as after a full disk or a crash while it was written."""
    try:
        lines = (pgdata / "postmaster.pid").read_text().splitlines()
        return PidFile(int(lines[0]), lines[4].strip(), lines[7].strip())
    except (OSError, ValueError, IndexError):
        return None


def initialise(programs: Path, pgdata: Path, major: int, account: Account | None, *, durable: bool) -> None:
    """initdb into a folder beside it, then one rename: an interrupted initdb never looks like a database."""
    new = pgdata.with_name(pgdata.name + ".new")
    if new.exists():
        left = postgres_workers(new).here
        signal_all(left, signal.SIGKILL)
        poll(lambda: not any(p.alive() for p in left), 5)
        shutil.rmtree(new)
    last = ""
    for locale in _locales(major):
        new.mkdir(mode=0o700)
        if account:
            account.own(new, 0o700)
        line: list[str | Path] = [programs / "initdb", "-D", new, "-U", SUPERUSER, "--auth=trust", "--encoding=UTF8"]
        line += [*locale, "--data-checksums", "--no-instructions", *([] if durable else ["--no-sync"])]
        who = account.run if account else {}
        done = subprocess.run(line, cwd="/", env=_environment(), capture_output=True, text=True, check=False, **who)
        if done.returncode == 0:
            new.rename(pgdata)
            return
        last = done.stderr[-1500:]
        shutil.rmtree(new, ignore_errors=True)
    raise DatabaseUnavailable(
        "The database folder could not be created.",
        hint=f"Is there space and permission in {pgdata.parent}?",
        detail=last,
    )


def command(programs: Path, pgdata: Path, socket_folder: Path, *, durable: bool) -> list[str | Path]:
    """The postmaster's command line. Settings go here rather than into a file, so each start has those of this version.

    Logged is only what ends a session or the server, never a statement: dialog text is personal. `log` ranks below
    `fatal`, so the line with the statement of a crashed backend is left out as well.
    """
    quoted = str(socket_folder).replace('"', '""')
    settings = {
        "listen_addresses": "",
        "unix_socket_directories": f'"{quoted}"',
        "unix_socket_permissions": "0700",
        "max_connections": "60",
        "shared_buffers": "128MB",
        "maintenance_work_mem": "256MB",
        "jit": "off",
        "wal_level": "minimal",
        "max_wal_senders": "0",
        "max_logical_replication_workers": "0",
        "timezone": "UTC",
        "log_timezone": "UTC",
        "log_min_messages": "fatal",
        "log_min_error_statement": "panic",
        "log_statement": "none",
        "log_checkpoints": "off",
        "logging_collector": "off",
    }
    if platform.system() == "Linux":
        settings["recovery_init_sync_method"] = "syncfs"  # 0.7 s instead of 8 s after a crash, 3 GB of data
        if _free("/dev/shm") < SHM_WANTED:
            settings["dynamic_shared_memory_type"] = "mmap"  # a container's 64 MB do not hold a parallel index build
    if not durable:
        settings |= {"fsync": "off", "full_page_writes": "off"}  # survives a killed server, not a power cut
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [programs / "postgres", "-D", pgdata, *options]


def launch(
    command_line: list[str | Path], pgdata: Path, log: Path, lock_fd: int, account: Account | None
) -> subprocess.Popen[bytes]:
    """Start the postmaster, which inherits `lock_fd`: the kernel holds that lock while it or any backend lives."""
    log_fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        return subprocess.Popen(
            command_line,
            cwd=pgdata,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=log_fd,
            stderr=log_fd,
            pass_fds=(lock_fd,),
            start_new_session=True,  # Ctrl-C in the terminal is for the application
            **(account.run if account else {}),
        )
    finally:
        os.close(log_fd)


def socket_folder(pgdata: Path, account: Account | None) -> Path:
    """The data folder itself, which is private. A short private one where the path is too long, or holds a comma (libpq
    reads it as two hosts)."""
    if len(os.fsencode(pgdata / SOCKET)) <= SOCKET_PATH_LIMIT and "," not in str(pgdata):
        return pgdata
    short = Path(tempfile.mkdtemp(prefix=SHORT_SOCKET_PREFIX, dir="/tmp"))
    if account:
        account.own(short, 0o700)
    return short


def clear_leftovers(pgdata: Path, left: PidFile | None) -> None:
    """Remove what a dead server left: pid file, sockets, its short socket folder. Only for one that surely is dead.

    `left`: its pid file, read while there was one.
    """
    if left and Path(left.socket_folder).name.startswith(SHORT_SOCKET_PREFIX):
        shutil.rmtree(left.socket_folder, ignore_errors=True)
    for path in (pgdata / "postmaster.pid", *pgdata.glob(".s.PGSQL.*")):
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def conninfo(socket_folder: str, database: str, user: str) -> str:
    """A libpq connection string; every value is quoted, so spaces do not matter."""
    parts = {"host": socket_folder, "port": "5432", "dbname": database, "user": user}
    quoted = {name: value.replace("\\", "\\\\").replace("'", "\\'") for name, value in parts.items()}
    return " ".join(f"{name}='{value}'" for name, value in quoted.items())


def socket_of(dsn: str) -> str:
    """The socket folder of a string that `conninfo` made."""
    host = dsn.removeprefix("host='").partition("' port='")[0]
    return host.replace("\\'", "'").replace("\\\\", "\\")


def _locales(major: int) -> list[list[str]]:
    """Upper and lower case must work for Cyrillic: plain C would not. The built-in locale exists from 17 on."""
    if major >= 17:
        return [["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]]
    return [[f"--locale={name}"] for name in ("C.UTF-8", "C.utf8", "en_US.UTF-8")]


def _environment() -> dict[str, str]:
    """Nothing of ours: PG* variables would redirect the programs, and secrets have no business there."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}


def _free(folder: str) -> int:
    try:
        status = os.statvfs(folder)
        return status.f_bavail * status.f_frsize
    except OSError:
        return 0
