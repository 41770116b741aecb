"""Uploads on disk while they are worked on: one line per dialog, mode 0600, gone with their job or after seven days.

`<sha256>.upload` is what somebody uploaded, read and waiting; `<sha256>.<job>.upload` the same in the hands of a job;
`<job>.results` what became of each dialog, which stays for the seven days so that it can be fetched. With
MEMORY_DESK_DATA_KEY each line is sealed.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from core.clock import Clock
from core.db.sealing import Sealer
from core.errors import InputError
from core.memory.identity import resolve_identity
from core.memory.notices import Findings
from core.memory.places import json_argument

FOLDER = "uploads"
KEEP = timedelta(days=7)
SEALED = "sealed"
ERASED = b'{"erased":1}'
HEX = frozenset("0123456789abcdef-")


@dataclass(frozen=True)
class Line:
    """One dialog of an upload, or one place of it that could not be read; `number` from 0."""

    number: int
    label: str
    body: dict[str, Any] | None = None
    problem: str | None = None
    erased: bool = False


class UploadFiles:
    """One folder; thread-safe, and safe beside other processes of the same folder."""

    def __init__(self, data_dir: Path, clock: Clock, sealer: Sealer | None = None) -> None:
        self._folder = data_dir / FOLDER
        self._clock = clock
        self._sealer = sealer or Sealer()

    def keep(self, lines: Iterable[Mapping[str, Any]]) -> str:
        """Write lines `{label, body}` or `{label, problem}`; the SHA-256 of the file, which is its name."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        digest = sha256()
        handle, name = tempfile.mkstemp(dir=self._folder, prefix="incoming-")  # mode 0600
        try:
            with os.fdopen(handle, "wb") as out:
                for line in lines:
                    digest.update(json.dumps(line, separators=(",", ":")).encode() + b"\n")
                    out.write(self._pack(line))
            Path(name).replace(self._path(digest.hexdigest()))
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
        return digest.hexdigest()

    def hand_over(self, sha: str, job_id: str) -> None:
        """Give a job its own hold on an upload. Errors: InputError where it is no longer kept."""
        target = self._path(sha, job_id)
        if target.exists():
            return
        try:
            try:
                os.link(self._path(sha), target)
            except FileNotFoundError:
                raise
            except OSError:  # a file system without hard links
                shutil.copy(self._path(sha), target)
                target.chmod(0o600)
            os.utime(target)
        except FileNotFoundError:
            raise _gone() from None

    def lines(self, sha: str, job_id: str | None = None, start: int = 0) -> Iterator[Line]:
        """From line `start` on. Errors: InputError where the file is no longer kept."""
        try:
            source = self._path(sha, job_id).open("rb")
        except FileNotFoundError:
            raise _gone() from None
        with source:
            for number, data in enumerate(source):
                if number >= start:
                    row = self._unpack(data)
                    yield Line(number, row.get("label", ""), row.get("body"), row.get("problem"), "erased" in row)

    def add_result(self, job_id: str, offset: int, row: Mapping[str, Any]) -> int:
        """Write one result at `offset`, dropping what an interrupted run left behind it; the offset after it."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._results(job_id)
        with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b") as out:
            out.truncate(offset)
            out.seek(offset)
            out.write(self._pack(row))
            return out.tell()

    def results(self, job_id: str) -> Iterator[dict[str, Any]]:
        """What became of each dialog, in order; nothing where the file has gone."""
        try:
            source = self._results(job_id).open("rb")
        except FileNotFoundError:
            return
        with source:
            for data in source:
                row = self._unpack(data)
                if "erased" not in row:
                    yield row

    def has_results(self, job_id: str) -> bool:
        return self._results(job_id).exists()

    def let_go(self, sha: str, job_id: str) -> None:
        """Take a job's hold on an upload away; the upload and the results stay."""
        self._path(sha, job_id).unlink(missing_ok=True)

    def remove(self, sha: str) -> None:
        """Delete the upload that waits; a job that has a hold on it keeps that."""
        self._path(sha).unlink(missing_ok=True)

    def sweep(self) -> int:
        """Delete what is older than seven days; how many files."""
        oldest = (self._clock.now() - KEEP).timestamp()
        gone = 0
        for path in self._files():
            with suppress(FileNotFoundError):
                if path.stat().st_mtime < oldest:
                    path.unlink()
                    gone += 1
        return gone

    def erase(self, dialog_keys: Iterable[str], ru_id: str | None = None, tu_id: str | None = None) -> int:
        """Overwrite every dialog of this pair or these keys, in uploads and in results; how many lines.

        The lines keep their length and place, so that a job that is reading goes on behind them.
        """
        keys = frozenset(dialog_keys)
        erased = 0
        for path in self._files():
            with suppress(FileNotFoundError), path.open("r+b") as both:
                erased += self._erase_lines(both, keys, ru_id, tu_id)
        return erased

    def _erase_lines(self, both: Any, keys: frozenset[str], ru_id: str | None, tu_id: str | None) -> int:
        erased, start = 0, 0
        while data := both.readline():
            if _is_of(self._unpack(data), keys, ru_id, tu_id):
                both.seek(start)
                both.write(ERASED + b" " * (len(data) - 1 - len(ERASED)) + b"\n")
                both.seek(start + len(data))
                erased += 1
            start += len(data)
        return erased

    def _pack(self, row: Mapping[str, Any]) -> bytes:
        """One line; with a data key its whole content is sealed."""
        whole = {SEALED: self._sealer.seal(dict(row))} if self._sealer.active else row
        return json.dumps(whole, separators=(",", ":")).encode() + b"\n"

    def _unpack(self, data: bytes) -> dict[str, Any]:
        """Errors: InputError where the key of a sealed line is not set."""
        row: dict[str, Any] = json.loads(data)
        if SEALED not in row:
            return row
        opened = self._sealer.open(row[SEALED])
        if opened is None:
            raise InputError("This upload is sealed, and its key is not set.", hint="Set MEMORY_DESK_DATA_KEY.")
        return dict(opened)

    def oldest(self) -> datetime | None:
        """When the oldest file was written, for Health."""
        times = [path.stat().st_mtime for path in self._files()]
        return datetime.fromtimestamp(min(times), self._clock.now().tzinfo) if times else None

    def _files(self) -> list[Path]:
        return [p for p in self._folder.iterdir() if p.is_file()] if self._folder.is_dir() else []

    def _path(self, sha: str, job_id: str | None = None) -> Path:
        return self._folder / f"{_plain(sha)}{f'.{_plain(job_id)}' if job_id else ''}.upload"

    def _results(self, job_id: str) -> Path:
        return self._folder / f"{_plain(job_id)}.results"


def _is_of(row: Mapping[str, Any], keys: frozenset[str], ru_id: str | None, tu_id: str | None) -> bool:
    if row.get("dialogKey") in keys:
        return True
    body = row.get("body")
    if not isinstance(body, Mapping):
        return False
    try:
        who = resolve_identity(body, json_argument(body, "conversationJson"), Findings())
    except InputError:
        return False  # nobody can say whose it is; no ingest takes it either
    return who.dialog_key in keys or (None not in (ru_id, tu_id) and (who.ru_id, who.tu_id) == (ru_id, tu_id))


def _plain(name: str) -> str:
    """A name that came from outside never leaves the folder."""
    if not name or not HEX.issuperset(name):
        raise InputError("This is no name of an upload.", field="upload")
    return name


def _gone() -> InputError:
    return InputError("The uploaded file is no longer kept.", hint="Upload it again.", field="upload")
