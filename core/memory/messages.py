"""The latest meaningful messages of a conversation. Source: spec/memory.md sections 3 and 4."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.memory.dates import in_time_order, parse_moment
from core.memory.notices import UNSTORABLE, Findings
from core.memory.places import everywhere
from core.memory.sources import ID_LIMIT, MESSAGE_LIMIT, MESSAGES_PER_INGEST, Direction
from core.memory.text import cut, fold, is_blank, is_given, is_unstorable, scalar

NAMES = ("allMessages", "messages")
ATTACHMENTS = ("photo", "video", "sticker", "gift")
SYSTEM_TYPE = "3"
FIELD = "conversation"
SYSTEM_TEXTS = ("is online now", "is waiting to chat")
_ABSENT = frozenset({"", "0", "false", "null", "none"})
_DIRECTIONS: Mapping[str, Direction] = {"true": "incoming", "1": "incoming", "false": "outgoing", "0": "outgoing"}


@dataclass(frozen=True)
class Message:
    """A message as it is stored: folded text of 1 to 420 UTF-16 units, attachment labels behind the body."""

    source_id: str
    text: str
    direction: Direction | None = None
    at: datetime | None = None

    @property
    def sent_at(self) -> str | None:
        return None if self.at is None else self.at.isoformat()


def find_messages(payload: Any, findings: Findings) -> list[Any]:
    """The first non-empty list: `allMessages` or `messages`, place by place; or the payload itself."""
    if isinstance(payload, list):
        return payload
    for name, value in everywhere(payload, NAMES):
        if isinstance(value, list):
            if value:
                return value
        elif is_given(value):
            findings.add(name, "malformed", "The messages are no list and were passed over.")
    return []


def read_messages(payload: Any, findings: Findings) -> tuple[Message, ...]:
    """The latest 80 by `sent_at`, in that order; undated ones keep their place among the messages that were kept."""
    kept = [m for raw in find_messages(payload, findings) if (m := _read(raw, findings))]
    ordered = in_time_order(kept, [m.at for m in kept])
    if len(ordered) > MESSAGES_PER_INGEST:
        older = len(ordered) - MESSAGES_PER_INGEST
        findings.add(FIELD, "limit", f"Messages older than the latest {MESSAGES_PER_INGEST}, left out: {{n}}.", older)
    return tuple(ordered[-MESSAGES_PER_INGEST:])


def _read(raw: Any, findings: Findings) -> Message | None:
    if raw is None:
        findings.add(FIELD, "malformed", "Entries that are null, dropped: {n}.")
        return None
    if not isinstance(raw, Mapping):
        findings.add(FIELD, "malformed", "Entries that are no objects, dropped: {n}.")
        return None
    text = _text(raw, findings)
    if text is None:
        return None
    at = _sent_at(raw.get("sent_at"), findings)
    direction = _direction(raw.get("is_incoming"), findings)
    return Message(_id(raw, text, direction, findings), text, direction, at)


def _text(raw: Mapping[str, Any], findings: Findings) -> str | None:
    """Body and labels, or None for a system message and for one that says nothing."""
    value = raw.get("body")
    body = scalar(value)
    if body is None and is_given(value) and not isinstance(value, str):
        findings.add(f"{FIELD}.body", "malformed", "Bodies that are neither text nor a number, passed over: {n}.")
    if is_unstorable(value):
        findings.add(f"{FIELD}.body", "malformed", UNSTORABLE)
    folded = fold(body or "")
    if scalar(raw.get("type")) == SYSTEM_TYPE or _says_system(folded):
        findings.add(FIELD, "system", "System messages, dropped: {n}.")
        return None
    labels = [f"[{name}]" for name in ATTACHMENTS if _attached(raw.get(name))]
    whole = " ".join([folded, *labels] if folded else labels)
    text = cut(whole, MESSAGE_LIMIT)
    if is_blank(text):
        findings.add(FIELD, "dropped", "Messages without anything to read, dropped: {n}.")
        return None
    if text != whole:
        findings.add(FIELD, "cut", f"Messages cut to {MESSAGE_LIMIT} characters: {{n}}.")
    return text


def _says_system(text: str) -> bool:
    lower = text.lower()
    return any(phrase in lower for phrase in SYSTEM_TEXTS)


def _attached(value: Any) -> bool:
    """Is an attachment there? Empty values, false, 0 and their texts are none."""
    if isinstance(value, str):
        return value.strip().lower() not in _ABSENT
    return bool(value)


def _direction(value: Any, findings: Findings) -> Direction | None:
    text = str(value).lower() if isinstance(value, bool) else (scalar(value) or "").lower()
    direction = _DIRECTIONS.get(text)
    if direction is None:
        findings.add(f"{FIELD}.is_incoming", "missing", "Messages without a direction: {n}.")
    return direction


def _sent_at(value: Any, findings: Findings) -> datetime | None:
    moment = parse_moment(value)
    if moment is None:
        if is_given(value):
            findings.add(f"{FIELD}.sent_at", "date", "Times that cannot be read, stored without a time: {n}.")
        else:
            findings.add(
                f"{FIELD}.sent_at", "missing", "Messages without a time, which keep their place in the list: {n}."
            )
        return None
    if not moment.zoned:
        findings.add(f"{FIELD}.sent_at", "date", "Times without a zone, taken as UTC: {n}.")
    return moment.at


def _id(raw: Mapping[str, Any], text: str, direction: Direction | None, findings: Findings) -> str:
    """Its id, else its time as written, else a digest of what it says: a place in a moving list would double it."""
    value = raw.get("id")
    own = scalar(value)
    if own is not None and len(own) <= ID_LIMIT:
        return own
    if is_given(value):
        findings.add(f"{FIELD}.id", "malformed", "Ids that are unusable, passed over: {n}.")
    else:
        findings.add(f"{FIELD}.id", "missing", "Messages without an id: {n}.")
    written = scalar(raw.get("sent_at"))
    if written is not None and len(written) <= ID_LIMIT:
        return written
    return "text:" + hashlib.sha256(f"{direction}:{text}".encode()).hexdigest()[:16]
