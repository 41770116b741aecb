"""Waiting records lose their words where they lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.events.redact import redact
from core.events.spool import Record, Spool, read_segment


def without(record: Record) -> Record | None:
    if record.body.get("who") != "taras":
        return record
    return None if record.kind == "event" else Record(record.kind, record.id, {**record.body, "who": None})


def test_records_of_all_processes(tmp_path: Path) -> None:
    """Dropped, emptied or left as they are; a writer that is still open goes on behind them."""
    mine, theirs = Spool(tmp_path), Spool(tmp_path)
    for spool in (mine, theirs):
        spool.append(Record("event", "1", {"who": "taras", "n": 1}))
        spool.append(Record("usage", "2", {"who": "taras", "n": 2}))
        spool.append(Record("usage", "3", {"who": "ivan", "n": 3}))
    mine.refuse(Record("event", "4", {"who": "taras"}))
    assert redact(mine, without) == 5
    theirs.append(Record("usage", "5", {"who": "ivan"}))
    assert redact(mine, without) == 0
    assert mine.peek("event") == []
    assert [(r.id, r.body["who"]) for r in theirs.peek("usage")] == [
        ("2", None), ("3", "ivan"), ("2", None), ("3", "ivan"), ("5", "ivan"),
    ]  # fmt: skip
    assert not any(b"taras" in path.read_bytes() for path in tmp_path.iterdir())


def test_records_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the disk refused is changed too."""
    spool = Spool(tmp_path)
    monkeypatch.setattr(spool, "_write", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    spool.append(Record("event", "1", {"who": "taras"}))
    spool.append(Record("event", "2", {"who": "ivan"}))
    assert redact(spool, without) == 1
    assert [r.id for r in spool.in_memory("event")] == ["2"]


def test_a_half_written_line_is_left(tmp_path: Path) -> None:
    """A record that is being written now, and damage, stay as they are."""
    path = tmp_path / "event~1~x.jsonl"
    path.write_bytes(b'no json\n{"kind":"event","id":"1","body":{"who":"taras"}}')
    assert redact(Spool(tmp_path), without) == 0
    assert len(list(read_segment(path))) == 1
