"""A day's snapshots as a body to ingest: what memory holds already keeps its id."""

from __future__ import annotations

from typing import Any

from core.memory.keys import tips_key
from core.memory.payload import normalise
from core.services.snapshot_body import snapshot_body
from core.snapshots.rows import StoredSnapshot

KEY = tips_key("ru-1", "tu-9")


def snapshot(kind: str, payload: Any, *, key: str = KEY, role: str = "", **columns: Any) -> StoredSnapshot:
    row: dict[str, Any] = {"id": "s", "dialog_key": key, "sync_date": "2026-11-20", "source_id": "0", **columns}
    return StoredSnapshot(
        entity_type=kind, source_role=role, payload=payload, **{"ru_id": "ru-1", "tu_id": "tu-9", **row}
    )


def line(text: str, date: str | None, initiator: str = "ru") -> StoredSnapshot:
    return snapshot("dialog", {"date": date, "initiator": initiator, "text": text})


def stored(source: str, source_id: str, text: str, **columns: Any) -> dict[str, Any]:
    return {"dialog_key": KEY, "source": source, "source_id": source_id, "text": text, **columns}


def test_a_message_that_memory_holds_keeps_its_id() -> None:
    """By text and instant, whatever zone it is written in; another text or another time is new."""
    rows = [
        line("hello  there", "2026-11-20T10:00:00+02:00"),
        line("hello there", "2026-11-20T11:00:00+02:00"),
        line("other", "2026-11-20T08:00:00Z"),
    ]
    known = [stored("conversation", "m7", "hello there", sent_at="2026-11-20T08:00:00+00:00")]
    made = snapshot_body(rows, known)
    assert [m.source_id for m in made.matches] == ["m7", None, None] and made.found == 1
    assert normalise(made.body).messages[0].source_id == "m7"


def test_a_day_without_a_time_matches_the_day() -> None:
    """A snapshot that knows the day only."""
    known = [stored("conversation", "m7", "hello", sent_at="2026-11-20T23:00:00+00:00")]
    assert snapshot_body([line("hello", "2026-11-20")], known).found == 1
    assert snapshot_body([line("hello", "2026-11-21")], known).found == 0


def test_two_equal_messages_are_two() -> None:
    """Said twice in one minute, stored once: the second one is new."""
    rows = [line("ok", "2026-11-20T08:00:00Z"), line("ok", "2026-11-20T08:00:00Z")]
    known = [stored("conversation", "m1", "ok", sent_at="2026-11-20T08:00:00Z")]
    assert [m.source_id for m in snapshot_body(rows, known).matches] == ["m1", None]


def test_notes_match_by_their_first_piece_and_day() -> None:
    """A long note is stored in pieces under one id."""
    text = "He likes tea. " * 40
    pieces = list(_pieces(text))
    known = [stored("note", "n3", piece, note_date="2026-11-19") for piece in pieces]
    note = snapshot("note", {"date": "2026-11-19", "text": text, "timestamp": 5})
    made = snapshot_body([note], known)
    assert [m.source_id for m in made.matches] == ["n3"]
    assert normalise(made.body).notes[0].source_id == "n3"
    other_day = snapshot("note", {"date": "2026-11-18", "text": text}, source_id="ts-1")
    assert normalise(snapshot_body([other_day], known).body).notes[0].source_id == "ts-1"


def test_profile_photo_ids_and_directions() -> None:
    """RU's profile and photo are the dialog's; a pair whose key is one of its two leaves the order to the ingest."""
    made = snapshot_body(
        [
            snapshot("profile", {"name": "Taras", "age": 34}, role="ru"),
            snapshot("profile", {"name": "Olena"}, role="tu"),
            snapshot("photo", {"url": "https://example.org/1.jpg"}, role="ru"),
            line("a", None, "ru"),
            line("b", None, "tu-9"),
            line("c", None, "somebody"),
            snapshot("daily_sync", {"completedAt": "x"}),
        ],
        [],
    )
    read = normalise(made.body)
    assert (read.ru_id, read.tu_id, read.dialog_key) == ("ru-1", "tu-9", KEY)
    assert read.profile[0] == "Name: Taras" and read.photo_url == "https://example.org/1.jpg"
    assert [m.direction for m in read.messages] == ["incoming", "outgoing", None]


def test_a_key_of_its_own_is_kept() -> None:
    """Where the ids do not give the key, or are not known."""
    made = snapshot_body([snapshot("dialog", {"text": "a", "date": None}, key="own", ru_id=None)], [])
    assert made.body["dialogKey"] == "own" and normalise(made.body).dialog_key == "own"


def test_payloads_that_are_no_objects_break_nothing() -> None:
    """Rows of another writer may hold anything."""
    rows = [
        snapshot(kind, payload) for kind in ("dialog", "note", "photo", "profile") for payload in (None, [], "x", 7)
    ]
    assert snapshot_body(rows, [stored("conversation", "", "x", sent_at=None)]).found == 0


def _pieces(text: str) -> tuple[str, ...]:
    from core.memory.notes import read_notes
    from core.memory.notices import Findings
    from core.memory.sentences import split_text

    return split_text(read_notes({"notes": [{"text": text}]}, None, Findings())[0].text)
