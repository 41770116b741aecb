"""Erasing a person: the database in one transaction, then what waits or lies on this machine's disk.

What another process holds in memory, or another machine on its disk, arrives later and without its words: the database
knows erased keys by their salted hash. Source: 20261201040400_create_erase_functions.sql.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.access.roles import permit
from core.db.client import Database
from core.errors import CoreError, InputError, NotFound
from core.events.emitter import KIND as EVENT
from core.events.emitter import Events
from core.events.redact import redact
from core.events.spool import Record
from core.memory.erasures import REASONS, ErasedRows, ErasePreview, ErasurePage, ErasureStore
from core.memory.keys import both_keys
from core.services.upload_files import UploadFiles

log = logging.getLogger(__name__)
LOG_FILES = ("*.log", "*.log.*")
SHORTEST_IN_LOGS = 8  # a shorter key would be found inside ordinary words


@dataclass(frozen=True)
class Erased:
    """What went. `left`: in words, what could not be reached now, and has to be tried again."""

    tables: dict[str, int]
    spooled: int = 0
    uploads: int = 0
    log_places: int = 0
    left: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(self.tables.values())


class EraseService:
    """Thread-safe; one per process. Nothing of it can be undone."""

    def __init__(
        self,
        db: Database,
        events: Events,
        data_dir: Path,
        uploads: UploadFiles,
        flush: Callable[[], Any] = lambda: None,
    ) -> None:
        self._store = ErasureStore(db)
        self._events = events
        self._data_dir = data_dir
        self._uploads = uploads
        self._flush = flush

    def preview(self, dialog_key: str, *, also: Sequence[str] = ()) -> ErasePreview:
        """Rows by table, and the keys that belong together. Errors: InputError, DatabaseError."""
        permit("corrections")
        _check(dialog_key)
        return self._store.preview(dialog_key, also)

    def erase(self, dialog_key: str, reason: str, *, also: Sequence[str] = ()) -> Erased:
        """Erase the dialog, what was merged with it, and the keys in `also`, from database, spool, uploads and logs.

        Asked again it looks for what was left the first time. Errors: InputError naming the reason, NotFound where
        there is no trace at all, DatabaseError: then nothing of the database was erased.
        """
        permit("erase_person")
        _check(dialog_key)
        if reason not in REASONS:
            raise InputError("The reason is not one of the list.", field="reason")
        # What waits goes in first, so that it is found there.
        self._events.flush()
        self._flush()
        event = self._events.prepare("DialogErased", {})
        gone = self._store.erase(dialog_key, reason, event, also)
        if gone.found:
            self._events.announce(event)
        done = self._files(gone)
        if not gone.found and not (done.spooled or done.uploads or done.log_places or done.left):
            raise NotFound("Nothing is stored of this dialog.", hint="Check the key.")
        if gone.found:
            try:
                if waiting := self._store.forget_statistics():
                    log.info("the planner's samples of %d tables are renewed by the database itself", waiting)
            except CoreError as error:
                done = replace(done, left=(*done.left, f"samples of the planner: {error.what}"))
        return done

    def _files(self, gone: ErasedRows) -> Erased:
        pairs = [tuple(pair.split(":", 1)) for pair in gone.pairs]
        # The pair's other order too: its files are the same person's, whichever key they would have got.
        keys = frozenset((*gone.keys, *(key for ru, tu in pairs for key in both_keys(ru, tu))))
        left: list[str] = []

        def attempt(what: str, act: Callable[[], int]) -> int:
            try:
                return act()
            except (OSError, ValueError) as problem:
                log.error("an erasure did not reach all of %s: %s", what, type(problem).__name__)
                left.append(what)
                return 0

        spooled = attempt("the spool", lambda: redact(self._events.spool, lambda r: _without(r, keys, pairs)))
        uploads = attempt("the uploads", lambda: self._erase_uploads(keys, pairs))
        places = attempt("the logs", lambda: _overwrite(self._logs(), gone.keys))
        return Erased(dict(gone.tables), spooled, uploads, places, tuple(left))

    def _erase_uploads(self, keys: Iterable[str], pairs: Sequence[tuple[str, ...]]) -> int:
        return self._uploads.erase(keys) + sum(self._uploads.erase((), ru, tu) for ru, tu in pairs)

    def _logs(self) -> list[Path]:
        return [path for pattern in LOG_FILES for path in self._data_dir.glob(pattern) if path.is_file()]

    def list(self, *, limit: int = 25, offset: int = 0) -> ErasurePage:
        """The records of erasures, newest first. Errors: DatabaseError."""
        permit("corrections")
        return self._store.list(limit=limit, offset=offset)


def _check(dialog_key: str) -> None:
    if not dialog_key:
        raise InputError("A dialog key is needed.", field="dialog")


def _without(record: Record, keys: frozenset[str], pairs: Sequence[tuple[str, ...]]) -> Record | None:
    """An event of the person goes; a usage row loses who it was and keeps its numbers; others stay."""
    if not _names(record.body, keys) and (record.body.get("ru_id"), record.body.get("tu_id")) not in pairs:
        return record
    if record.kind == EVENT:
        return None
    ids = dict.fromkeys(("dialog_key", "ru_id", "tu_id", "request_id"))
    return Record(record.kind, record.id, {**record.body, **{k: v for k, v in ids.items() if k in record.body}})


def _names(value: Any, keys: frozenset[str]) -> bool:
    if isinstance(value, str):
        return value in keys
    if isinstance(value, dict):
        return any(_names(v, keys) for v in value.values()) or not keys.isdisjoint(value)
    return isinstance(value, list) and any(_names(v, keys) for v in value)


def _overwrite(paths: Iterable[Path], keys: Iterable[str]) -> int:
    """Where a log names a key, stars of the same length: its writer goes on appending."""
    found = 0
    words = [key.encode() for key in keys if len(key) >= SHORTEST_IN_LOGS]
    for path in paths:
        with path.open("r+b") as file:
            data = file.read()
            for word in words:
                at = data.find(word)
                while at >= 0:
                    file.seek(at)
                    file.write(b"*" * len(word))
                    found += 1
                    at = data.find(word, at + len(word))
    return found
