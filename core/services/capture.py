"""From a request to the snapshots of one dialog and day: POST /snapshots, and a dashboard ingest. Pure.

Payloads are kept as they came, so that their hash is the one that the existing backend would store. Source:
spec/memory.md section 6.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from core.errors import InputError
from core.memory.dates import parse_moment
from core.memory.identity import Identity, resolve_identity
from core.memory.messages import find_messages
from core.memory.notes import NOTE_NAMES, TEXT_KEYS
from core.memory.notices import Findings, Notice
from core.memory.payload import Normalised
from core.memory.places import everywhere, json_argument, request_text
from core.memory.profile import find_profile
from core.memory.sources import ID_LIMIT
from core.memory.text import scalar
from core.services.storable import clean
from core.snapshots.rows import Snapshot

ROLES = ("ru", "tu")
COMPLETED = "The mark of a completed sync is for the service that syncs to write; it was not written."


@dataclass(frozen=True)
class DaySnapshots:
    """What one request says about one dialog on one day, each identity once; and what was odd about it."""

    dialog_key: str
    sync_date: str
    rows: tuple[Snapshot, ...]
    notices: tuple[Notice, ...]


def read_snapshots(body: Mapping[str, Any], today: date) -> DaySnapshots:
    """The body of POST /snapshots. Errors: InputError naming the field, MissingIdentity (422)."""
    findings = Findings()
    identity = resolve_identity(body, None, findings)
    day = _sync_date(body, today)
    blank = _blank(identity, day, request_text(body, "family"))
    rows: list[Snapshot] = []
    for role in ROLES:
        name = f"profile{role.capitalize()}"
        profile = json_argument(body, name)
        if isinstance(profile, list):
            raise InputError(f"{name} is a list.", hint="Send one profile as an object.", field=name)
        if profile is not None:
            rows.append(_whole(blank, "profile", role, clean(profile, name, findings)))
        name = f"photo{role.capitalize()}"
        if (photo := _photo(body.get(name), name)) is not None:
            rows.append(_whole(blank, "photo", role, clean(photo, name, findings)))
    rows += _listed(_list(body, "notes"), "notes", _note(blank, findings), findings)
    rows += _listed(_list(body, "dialog"), "dialog", _line(blank, findings), findings)
    if body.get("completed"):
        findings.add("completed", "note", COMPLETED)
    return _finished(blank, rows, findings)


def snapshots_of_ingest(body: Mapping[str, Any], normalised: Normalised, today: date) -> DaySnapshots:
    """What an ingest's body says, under the key that its chunks got. Errors: InputError for a text that is no JSON."""
    findings = Findings()
    payload, wrapper = json_argument(body, "conversationJson"), json_argument(body, "profileJson")
    blank = _blank(normalised, today, None)
    rows: list[Snapshot] = []
    profile = wrapper if isinstance(wrapper, Mapping) and wrapper else find_profile(payload, Findings())
    if profile:
        rows.append(_whole(blank, "profile", "ru", clean(profile, "profile", findings)))
    if normalised.photo_url:
        rows.append(_whole(blank, "photo", "ru", {"url": normalised.photo_url}))
    lists = [value for _, value in everywhere(payload, NOTE_NAMES) if isinstance(value, list)]
    rows += _listed([n for notes in lists for n in notes], "notes", _note(blank, findings), findings)
    lines = [_as_line(message) for message in find_messages(payload, Findings())]
    rows += _listed([line for line in lines if line], "dialog", _line(blank, findings), findings)
    return _finished(blank, rows, findings)


def _sync_date(body: Mapping[str, Any], today: date) -> str:
    value = body.get("syncDate")
    if value is None:
        return today.isoformat()
    try:
        if not isinstance(value, str) or len(value) != 10:
            raise ValueError
        return date.fromisoformat(value).isoformat()
    except ValueError:
        raise InputError("syncDate is no day.", hint="Write it as 2026-11-30.", field="syncDate") from None


def _blank(identity: Identity | Normalised, day: date | str, family: str | None) -> Snapshot:
    return Snapshot(
        dialog_key=identity.dialog_key,
        sync_date=day if isinstance(day, str) else day.isoformat(),
        entity_type="",
        source_role="",
        source_id="",
        payload=None,
        ru_id=identity.ru_id,
        tu_id=identity.tu_id,
        family=family,
    )


def _whole(blank: Snapshot, entity_type: str, role: str, payload: Any) -> Snapshot:
    url = payload.get("url") if entity_type == "photo" else None
    text = url if isinstance(url, str) else None
    return replace(blank, entity_type=entity_type, source_role=role, source_id=role, payload=payload, text=text)


def _photo(value: Any, name: str) -> Mapping[str, Any] | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return {"url": value}
    if isinstance(value, Mapping):
        return value
    raise InputError(f"{name} is neither a URL nor an object.", field=name)


def _list(body: Mapping[str, Any], name: str) -> list[Any]:
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise InputError(f"{name} is no list.", field=name)
    return value


def _listed(
    items: list[Any], field: str, read: Callable[[Mapping[str, Any], int], Snapshot | None], findings: Findings
) -> list[Snapshot]:
    rows = []
    for index, item in enumerate(items):
        holder = {"text": item} if isinstance(item, str) else item
        if not isinstance(holder, Mapping):
            findings.add(field, "malformed", "Entries that are null or no objects, dropped: {n}.")
            continue
        row = read(holder, index)
        if row is not None:
            rows.append(row)
    return rows


def _note(blank: Snapshot, findings: Findings) -> Callable[[Mapping[str, Any], int], Snapshot | None]:
    """{date, text, timestamp}, absent keys left out; identified by its timestamp, else date, else index."""

    def read(item: Mapping[str, Any], index: int) -> Snapshot | None:
        text = next((item[key] for key in TEXT_KEYS if isinstance(item.get(key), str)), None)
        if text is None:
            findings.add("notes", "dropped", "Entries without a text, dropped: {n}.")
            return None
        given = {**item, "text": text}
        payload = clean({k: given[k] for k in ("date", "text", "timestamp") if k in given}, "notes", findings)
        source_id = _short(given.get("timestamp")) or _short(given.get("date")) or str(index)
        at = _moment(given.get("timestamp")) or _moment(given.get("date"))
        return replace(
            blank, entity_type="note", source_id=source_id, payload=payload, text=payload["text"], entity_at=at
        )

    return read


def _line(blank: Snapshot, findings: Findings) -> Callable[[Mapping[str, Any], int], Snapshot | None]:
    """{date, initiator, text}, identified by `<date or index>:<initiator>`."""

    def read(item: Mapping[str, Any], index: int) -> Snapshot | None:
        payload = clean({k: item[k] for k in ("date", "initiator", "text") if k in item}, "dialog", findings)
        initiator = _short(item.get("initiator")) or ""
        text = payload.get("text")
        return replace(
            blank,
            entity_type="dialog",
            source_id=f"{_short(item.get('date')) or index}:{initiator}",
            payload=payload,
            text=text if isinstance(text, str) else None,
            entity_at=_moment(item.get("date")),
            initiator=initiator or None,
        )

    return read


def _as_line(message: Any) -> dict[str, Any] | None:
    """A message of an ingest as an entry of `dialog`."""
    if not isinstance(message, Mapping):
        return None
    incoming = scalar(message.get("is_incoming")) or str(message.get("is_incoming"))
    initiator = {"true": "ru", "1": "ru", "false": "tu", "0": "tu"}.get(incoming.lower(), "")
    return {"date": message.get("sent_at"), "initiator": initiator, "text": message.get("body")}


def _short(value: Any) -> str | None:
    text = scalar(value)
    return text if text is not None and len(text) <= ID_LIMIT else None


def _moment(value: Any) -> str | None:
    moment = parse_moment(value)
    return None if moment is None else moment.iso


def _finished(blank: Snapshot, rows: list[Snapshot], findings: Findings) -> DaySnapshots:
    """Each identity once: of two the later wins."""
    single = {row.identity: row for row in rows}
    findings.add(
        "snapshots",
        "repeated",
        "Entries with an identity that a later one has, left out: {n}.",
        len(rows) - len(single),
    )
    return DaySnapshots(blank.dialog_key, blank.sync_date, tuple(single.values()), findings.notices())
