"""Notes and summaries, merged from every place, of at most 800 each. Source: spec/memory.md sections 3 and 4."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.memory.dates import Moment, parse_moment
from core.memory.notices import UNSTORABLE, Findings
from core.memory.places import everywhere
from core.memory.sources import ID_LIMIT, NOTE_LIMIT
from core.memory.text import cut, fold, is_blank, is_given, is_unstorable, scalar

NOTE_NAMES = ("aiNotes", "manualNotes", "notes")
SUMMARY_NAMES = ("summaries",)
TEXT_KEYS = ("text", "note", "summary")
DATE_KEYS = ("date", "created_at", "timestamp")


@dataclass(frozen=True)
class Note:
    """A note as it is stored. `source_id`: its id, else its date as written, else its place among them (from 1)."""

    source_id: str
    text: str
    day: str | None = None
    at: datetime | None = None


@dataclass(frozen=True)
class _Draft:
    id: str | None
    written: str | None
    text: str
    moment: Moment | None


def read_notes(payload: Any, profile: Any, findings: Findings) -> tuple[Note, ...]:
    """Notes of the payload, then those of `profileJson`; equal ids, else equal date and text, are one note."""
    lists = [value for _, value in (*everywhere(payload, NOTE_NAMES), *everywhere(profile, NOTE_NAMES))]
    return _merge(lists, "notes", findings)


def read_summaries(body: Mapping[str, Any], payload: Any, findings: Findings) -> tuple[Note, ...]:
    """Summaries of the request, then of the payload; treated like notes."""
    own = body.get("summaries")
    lists = [] if own is None else [own]
    return _merge([*lists, *(value for _, value in everywhere(payload, SUMMARY_NAMES))], "summaries", findings)


def _merge(lists: Iterable[Any], field: str, findings: Findings) -> tuple[Note, ...]:
    merged: dict[tuple[str | None, ...], _Draft] = {}
    for value in lists:
        if not isinstance(value, list):
            if is_given(value):
                findings.add(field, "malformed", "Something that should be a list is none and was passed over.")
            continue
        for item in value:
            draft = _read(item, field, findings)
            if draft is None:
                continue
            key = ("id", draft.id) if draft.id is not None else ("text", draft.written, draft.text)
            kept = merged.setdefault(key, draft)
            if kept.text != draft.text:
                findings.add(field, "repeated", "Entries with an id that another text has already, left out: {n}.")
    return tuple(_note(draft, position) for position, draft in enumerate(merged.values(), start=1))


def _read(item: Any, field: str, findings: Findings) -> _Draft | None:
    if item is None:
        return None
    holder: Mapping[str, Any] = item if isinstance(item, Mapping) else {"text": item}
    texts = (scalar(holder.get(key)) for key in TEXT_KEYS)
    text = next((folded for t in texts if t and (folded := fold(t)) and not is_blank(folded)), None)
    if text is None:
        findings.add(field, "dropped", "Entries without a text, dropped: {n}.")
        return None
    if any(is_unstorable(holder.get(key)) for key in TEXT_KEYS):
        findings.add(field, "malformed", UNSTORABLE)
    short = cut(text, NOTE_LIMIT)
    if short != text:
        findings.add(field, "cut", f"Entries cut to {NOTE_LIMIT} characters: {{n}}.")
    written, moment = _date(holder, field, findings)
    return None if is_blank(short) else _Draft(_id(holder.get("id"), field, findings), written, short, moment)


def _date(holder: Mapping[str, Any], field: str, findings: Findings) -> tuple[str | None, Moment | None]:
    """The date as written, and the instant it names: the first that can be read, else the first that is there."""
    given = [holder[key] for key in DATE_KEYS if is_given(holder.get(key))]
    for value in given:
        moment = parse_moment(value)
        if moment is not None:
            if not (moment.zoned or moment.day_only):
                findings.add(f"{field}.date", "date", "Times without a zone, taken as UTC: {n}.")
            return scalar(value), moment
    if given:
        findings.add(f"{field}.date", "date", "Dates that cannot be read, stored without a date: {n}.")
    written = next((text for value in given if (text := scalar(value)) and len(text) <= ID_LIMIT), None)
    return written, None


def _id(value: Any, field: str, findings: Findings) -> str | None:
    text = scalar(value)
    if text is None or len(text) > ID_LIMIT:
        if is_given(value):
            findings.add(f"{field}.id", "malformed", "Ids that are unusable, passed over: {n}.")
        return None
    return text


def _note(draft: _Draft, position: int) -> Note:
    moment = draft.moment
    return Note(
        source_id=draft.id or draft.written or str(position),
        text=draft.text,
        day=moment.day.isoformat() if moment else None,
        at=moment.at if moment else None,
    )
