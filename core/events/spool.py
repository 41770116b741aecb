"""Records on disk until the database has them: files of JSON lines, one writer each, that outlive a kill."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

log = logging.getLogger(__name__)

_BINARY = getattr(os, "O_BINARY", 0)
_MEMORY_LIMIT = 10_000


@dataclass(frozen=True)
class Record:
    """One line: what kind of record, its id (writing it twice is writing it once), and the row itself."""

    kind: str
    id: str
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Depth:
    """Records waiting on disk, in memory (the disk took none), and refused by the database for good."""

    waiting: int
    in_memory: int
    refused: int


def spool_folder(data_dir: Path, hosted_url: str | None) -> Path:
    """The folder of one target database, so that rows meant for the embedded one never reach a hosted project."""
    name = "embedded" if hosted_url is None else hashlib.sha256(hosted_url.encode()).hexdigest()[:16]
    return data_dir / "spool" / name


class Spool:
    """Append-only, thread-safe, shared by processes: each writes its own files and adopts those of dead ones.

    A record survives `kill -9` from the moment `append` returns (it is with the operating system); `settle` forces
    it to the disk, for power failures. Files are `<kind>~<time>~<owner>.jsonl`, mode 0600, in a folder 0700; the owner
    holds `<owner>.lock` as long as it lives.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._owner = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._alive = FileLock(folder / f"{self._owner}.lock", mode=0o600, thread_local=False)
        self._open: dict[str, tuple[Path, int, int]] = {}  # kind -> path, descriptor, size
        self._memory: list[Record] = []
        self._last = 0

    def append(self, record: Record) -> bool:
        """Keep a record; False where the disk refused and it is kept in memory only (10,000 at most). Never raises."""
        line = json.dumps({"kind": record.kind, "id": record.id, "body": record.body}, separators=(",", ":")).encode()
        with self._lock:
            try:
                self._write(record.kind, line + b"\n")
                return True
            except OSError as problem:
                log.error("the spool takes no record: %s", problem.strerror)
                if len(self._memory) < _MEMORY_LIMIT:
                    self._memory.append(record)
                return False

    def segments(self, kind: str) -> list[Path]:
        """The files to be written to the database now, oldest first; later records go to a new file."""
        with self._lock:
            self._seal(kind)
            self._adopt()
            return sorted(self._folder.glob(f"{kind}~*~{self._owner}.jsonl"))

    def in_memory(self, kind: str) -> list[Record]:
        """Take out the records that the disk refused."""
        with self._lock:
            taken = [r for r in self._memory if r.kind == kind]
            self._memory = [r for r in self._memory if r.kind != kind]
            return taken

    def refuse(self, record: Record) -> None:
        """Set aside a record that the database will never take, for a person to look at."""
        line = json.dumps({"kind": record.kind, "id": record.id, "body": record.body}, separators=(",", ":"))
        path = self._folder / f"{record.kind}.refused"
        with self._lock:
            descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | _BINARY, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line.encode() + b"\n")

    @property
    def folder(self) -> Path:
        return self._folder

    def change_memory(self, change: Callable[[Record], Record | None]) -> int:
        """Put the records that the disk refused through `change`, None drops one; how many it changed."""
        with self._lock:
            after = [change(record) for record in self._memory]
            changed = sum(a != b for a, b in zip(after, self._memory, strict=True))
            self._memory = [record for record in after if record is not None]
        return changed

    def settle(self, paths: list[Path]) -> None:
        """Force files that will stay a while to the disk."""
        for path in paths:
            try:
                descriptor = os.open(path, os.O_RDWR | _BINARY)
            except OSError:
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def depth(self, kind: str | None = None) -> Depth:
        """What is waiting, of all processes, of one kind or of all."""
        with self._lock:
            in_memory = sum(kind in (None, record.kind) for record in self._memory)
        return Depth(self._lines(f"{kind or '*'}~*.jsonl"), in_memory, self._lines(f"{kind or '*'}.refused"))

    def peek(self, kind: str) -> list[Record]:
        """The records that wait, of all processes, left where they are; some may be written meanwhile."""
        for _ in range(3):
            try:
                paths = sorted(self._folder.glob(f"{kind}~*.jsonl"))
                found = [record for path in paths for record in read_segment(path)]
                break
            except OSError:
                found = []  # a file was written to the database, or another process took it over: look again
        with self._lock:
            return found + [record for record in self._memory if record.kind == kind]

    def close(self) -> None:
        """Leave what is left to the next process."""
        with self._lock:
            for kind in list(self._open):
                self._seal(kind)
            if self._alive.is_locked:
                self._alive.release()
                Path(self._alive.lock_file).unlink(missing_ok=True)

    def _write(self, kind: str, line: bytes) -> None:
        if kind not in self._open:
            self._claim()
            # Names sort by time, and a clock that is set back does not reorder them.
            self._last = max(self._last + 1, time.time_ns())
            path = self._folder / f"{kind}~{self._last:020d}~{self._owner}.jsonl"
            self._open[kind] = (path, os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY | _BINARY, 0o600), 0)
        path, descriptor, size = self._open[kind]
        written = os.write(descriptor, line)
        if written != len(line):
            os.ftruncate(descriptor, size)
            raise OSError(28, "no room for a whole record")
        self._open[kind] = (path, descriptor, size + written)

    def _claim(self) -> None:
        if not self._alive.is_locked:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._alive.acquire(timeout=0)

    def _seal(self, kind: str) -> None:
        if opened := self._open.pop(kind, None):
            os.close(opened[1])

    def _adopt(self) -> None:
        files = [path for path in self._folder.glob("*~*~*.jsonl") if _owner_of(path) != self._owner]
        locks = {path.stem for path in self._folder.glob("*.lock")} - {self._owner}
        for owner in locks | {_owner_of(path) for path in files}:
            lock = FileLock(self._folder / f"{owner}.lock", mode=0o600, thread_local=False)
            try:
                lock.acquire(timeout=0)
            except (Timeout, OSError):
                continue  # it lives
            try:
                for path in files:
                    if _owner_of(path) == owner:
                        self._claim()
                        path.rename(path.with_name(path.name.replace(owner, self._owner)))
            except OSError as problem:
                log.info("a spool file was not taken over: %s", problem.strerror)
            finally:
                lock.release()
                Path(lock.lock_file).unlink(missing_ok=True)

    def _lines(self, pattern: str) -> int:
        total = 0
        for path in self._folder.glob(pattern):
            try:
                total += path.read_bytes().count(b"\n")
            except OSError:
                continue  # written to the database meanwhile
        return total


def read_segment(path: Path) -> Iterator[Record]:
    """The records of a file in order. A line that a crash cut short is skipped with a warning."""
    damaged = 0
    for line in path.read_bytes().split(b"\n"):
        if not line.strip():  # taken out where it lay
            continue
        try:
            found = json.loads(line)
            yield Record(str(found["kind"]), str(found["id"]), dict(found["body"]))
        except (ValueError, KeyError, TypeError):
            damaged += 1
    if damaged:
        log.warning("%d damaged records in a spool file were skipped", damaged)


def _owner_of(path: Path) -> str:
    return path.stem.rpartition("~")[2]
