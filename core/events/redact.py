"""Taking words out of waiting records where they lie on disk, also in files that another process writes just now."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.events.spool import Record, Spool

# What a record becomes: itself where nothing is to be done, another of no greater length, or None.
Change = Callable[[Record], Record | None]


def redact(spool: Spool, change: Change) -> int:
    """Put every waiting or refused record of all processes through `change`; how many it changed.

    Lines keep their length and place, since their writer goes on appending behind them. A record that is being sent
    in this moment still arrives as it was: the database has to judge that one itself. Errors: OSError.
    """
    changed = spool.change_memory(change)
    for _ in range(2):  # a file that is taken over by another process in between has a new name
        for path in [*spool.folder.glob("*.jsonl"), *spool.folder.glob("*.refused")]:
            with suppress(FileNotFoundError):
                changed += _redact_file(path, change)
    return changed


def _redact_file(path: Path, change: Change) -> int:
    changed, start = 0, 0
    with path.open("r+b") as file:
        while line := file.readline():
            record = _read(line)
            after = change(record) if record else None
            if record and after != record:
                text = b"" if after is None else _line(after)
                if len(text) >= len(line):
                    text = b""  # cannot grow: then it goes
                file.seek(start)
                file.write(text.ljust(len(line) - 1) + b"\n")
                file.seek(start + len(line))
                changed += 1
            start += len(line)
    return changed


def _read(line: bytes) -> Record | None:
    if not line.endswith(b"\n"):
        return None  # still being written
    try:
        found = json.loads(line)
        return Record(str(found["kind"]), str(found["id"]), dict(found["body"]))
    except (ValueError, KeyError, TypeError):
        return None


def _line(record: Record) -> bytes:
    return json.dumps({"kind": record.kind, "id": record.id, "body": record.body}, separators=(",", ":")).encode()
