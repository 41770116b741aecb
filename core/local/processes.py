"""Which process is which: a pid together with its birth, so that a reused pid is never mistaken for ours."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import psutil

GONE = (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)


@dataclass(frozen=True)
class Process:
    """One process of this machine, since this boot. `born` is opaque: equal for the same process, else different."""

    pid: int
    born: str

    def alive(self) -> bool:
        """True while exactly this process runs. A zombie is dead: it holds no file, no memory and no lock any more."""
        return born(self.pid) == self.born

    def wait(self, seconds: float) -> bool:
        """True when it is gone within that time."""
        return poll(lambda: not self.alive(), seconds)


def born(pid: int) -> str | None:
    """The birth mark of a living process, None when there is none or only a zombie.

    Linux counts in clock ticks since boot, which a corrected wall clock does not move; the boot id tells boots apart.
    """
    if pid <= 0:
        return None
    if platform.system() == "Linux":
        try:
            after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except (OSError, UnicodeDecodeError):
            return None
        return None if after_name[0] in "ZXx" else f"{_boot()}-{after_name[19]}"
    try:
        process = psutil.Process(pid)
        return None if process.status() in GONE else f"{process.create_time():.2f}"
    except psutil.Error:
        return None


def find(pid: int) -> Process | None:
    mark = born(pid)
    return Process(pid, mark) if mark else None


def this_process() -> Process:
    me = find(os.getpid())
    assert me is not None
    return me


def poll(done: Callable[[], bool], seconds: float, *, every: float = 0.02) -> bool:
    """Ask until `done` or the time is over; the last answer."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() >= deadline:
            return False
        time.sleep(every)
    return True


@dataclass(frozen=True)
class Workers:
    """Living postgres processes of one data folder: those on it, and those whose folder of that name was deleted."""

    here: tuple[Process, ...]
    ghosts: tuple[Process, ...]


def postgres_workers(pgdata: Path) -> Workers:
    """Postmaster and backends alike. All of them run with the data folder as working directory; their command line
    is rewritten and does not name it. On Linux the folder is compared by inode, so a new folder of the same name
    does not inherit the processes of a deleted one.
    """
    here: list[Process] = []
    ghosts: list[Process] = []
    wanted = os.path.realpath(pgdata)
    for process in psutil.process_iter(["pid", "name", "status"]):
        if not (process.info["name"] or "").startswith("postgres") or process.info["status"] in GONE:
            continue
        try:
            folder = process.cwd()
        except (psutil.Error, OSError):
            continue
        found = find(process.pid)
        if found is None or not folder:
            continue
        if _same_folder(process.pid, folder, pgdata):
            here.append(found)
        elif folder.removesuffix(" (deleted)") == wanted:
            ghosts.append(found)
    return Workers(tuple(here), tuple(ghosts))


def works_on(pid: int, pgdata: Path) -> Process | None:
    """That process, if it lives, is a postgres and works in this data folder."""
    try:
        process = psutil.Process(pid)
        right = process.name().startswith("postgres") and _same_folder(pid, process.cwd(), pgdata)
    except (psutil.Error, OSError, ValueError):
        return None
    return find(pid) if right else None


def signal_all(processes: Iterable[Process], number: int) -> None:
    for process in processes:
        if process.alive():
            try:
                os.kill(process.pid, number)
            except ProcessLookupError:
                continue


def _same_folder(pid: int, folder: str, pgdata: Path) -> bool:
    try:
        there = Path(f"/proc/{pid}/cwd" if platform.system() == "Linux" else folder).stat()
        return os.path.samestat(there, pgdata.stat())
    except OSError:
        return False


@lru_cache(maxsize=1)
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()[:8]
    except OSError:
        return f"{psutil.boot_time():.0f}"
