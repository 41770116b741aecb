"""From the snapshots of one dialog and day to a body that can be ingested, matched with what memory has already. Pure.

A snapshot has no message ids: ingested as it is, each message would be stored a second time under another id. So a
message or note that memory holds with the same text and date keeps the id it has there. Source: spec/memory.md
section 6, issue "Observe and operate" item 5.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.memory.dates import parse_moment
from core.memory.keys import both_keys
from core.memory.messages import read_messages
from core.memory.notes import read_notes
from core.memory.notices import Findings
from core.memory.sentences import split_text
from core.memory.text import scalar
from core.snapshots.rows import StoredSnapshot

INCOMING = frozenset({"ru", "client", "man", "incoming"})
OUTGOING = frozenset({"tu", "woman", "lady", "girl", "operator", "outgoing"})


@dataclass(frozen=True)
class Match:
    """An entity of the snapshot; `source_id` and `dialog_key` are those of the row that holds it already, else None."""

    entity_type: str
    date: str | None
    text: str
    source_id: str | None = None
    dialog_key: str | None = None


@dataclass(frozen=True)
class SnapshotBody:
    """`body` is what POST /memory/ingest would take. `matches`: its messages and notes, each with its row if any."""

    body: dict[str, Any]
    matches: tuple[Match, ...]

    @property
    def found(self) -> int:
        """How many of them memory holds already."""
        return sum(match.source_id is not None for match in self.matches)


def snapshot_body(rows: Sequence[StoredSnapshot], stored: Iterable[Mapping[str, Any]]) -> SnapshotBody:
    """`rows`: the entities of one dialog on one day, at least one. `stored`: rows of `client_memory_chunks` of the same
    pair (dialog_key, source, source_id, text, note_date, sent_at)."""
    first = rows[0]
    ru, tu = _first(rows, "ru_id"), _first(rows, "tu_id")
    known = _Known(stored)
    matches: list[Match] = []
    messages = [_message(row, ru, tu, known, matches) for row in rows if row.entity_type == "dialog"]
    notes = [_note(row, known, matches) for row in rows if row.entity_type == "note"]
    payload: dict[str, Any] = {"messages": messages, "notes": notes}
    body: dict[str, Any] = {"conversationJson": payload}
    for row in rows:
        if row.source_role == "ru" and row.entity_type == "profile" and isinstance(row.payload, Mapping):
            body["profileJson"] = dict(row.payload)
        if row.source_role == "ru" and row.entity_type == "photo" and isinstance(row.payload, Mapping):
            url = row.payload.get("url")
            if isinstance(url, str) and url:
                body["photoUrl"] = url
    if ru and tu and first.dialog_key in both_keys(ru, tu):
        body |= {"ruId": ru, "tuId": tu}  # the ingest then chooses the key of the pair that has rows
    else:
        body["dialogKey"] = first.dialog_key
    return SnapshotBody(body, tuple(matches))


class _Known:
    """Rows of memory by source, text and date; each is given out once."""

    def __init__(self, stored: Iterable[Mapping[str, Any]]) -> None:
        self._rows: dict[tuple[str, str, str | None], list[tuple[str, str]]] = defaultdict(list)
        for row in stored:
            source, text, owner = str(row["source"]), str(row["text"]), (str(row["source_id"]), str(row["dialog_key"]))
            if not row["source_id"]:
                continue
            if source == "note":
                self._rows[source, text, row.get("note_date")].append(owner)
            elif source == "conversation":
                moment = parse_moment(row.get("sent_at"))
                for date in {moment.iso, moment.at.date().isoformat()} if moment else {None}:
                    self._rows[source, text, date].append(owner)
        self._given: set[tuple[str, str, str]] = set()

    def take(self, source: str, text: str, date: str | None) -> tuple[str | None, str | None]:
        for source_id, dialog_key in self._rows.get((source, text, date), ()):
            if (source, source_id, dialog_key) not in self._given:
                self._given.add((source, source_id, dialog_key))
                return source_id, dialog_key
        return None, None


def _message(
    row: StoredSnapshot, ru: str | None, tu: str | None, known: _Known, matches: list[Match]
) -> dict[str, Any]:
    payload = row.payload if isinstance(row.payload, Mapping) else {}
    written = payload.get("date") or row.entity_at
    raw = {
        "body": payload.get("text", row.text),
        "sent_at": written,
        "is_incoming": _incoming(payload.get("initiator", row.initiator), ru, tu),
    }
    for message in read_messages([raw], Findings()):
        moment = parse_moment(written)
        date = None if moment is None else moment.day.isoformat() if moment.day_only else moment.iso
        source_id, dialog_key = known.take("conversation", message.text, date)
        matches.append(Match("dialog", date, message.text, source_id, dialog_key))
        if source_id is not None:
            raw["id"] = source_id
    return raw


def _note(row: StoredSnapshot, known: _Known, matches: list[Match]) -> dict[str, Any]:
    payload = row.payload if isinstance(row.payload, Mapping) else {}
    raw = {
        "text": payload.get("text", row.text),
        "date": payload.get("date") or payload.get("timestamp") or row.entity_at,
    }
    for note in read_notes({"notes": [raw]}, None, Findings()):
        pieces = split_text(note.text)
        source_id, dialog_key = known.take("note", pieces[0], note.day) if pieces else (None, None)
        matches.append(Match("note", note.day, note.text, source_id, dialog_key))
        raw["id"] = source_id if source_id is not None else row.source_id
    return raw


def _incoming(initiator: Any, ru: str | None, tu: str | None) -> bool | None:
    """Whether RU wrote it; None where nobody says so."""
    name = (scalar(initiator) or "").strip()
    if name.lower() in INCOMING or (ru and name == ru):
        return True
    return False if name.lower() in OUTGOING or (tu and name == tu) else None


def _first(rows: Sequence[StoredSnapshot], name: str) -> str | None:
    return next((str(value) for row in rows if (value := getattr(row, name))), None)
