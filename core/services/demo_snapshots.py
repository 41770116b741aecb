"""Fourteen days of snapshots for the demo: what upstream would have delivered of each dialog, day by day.

Derived from the demo payloads by a formula that is seeded with the dialog and the day, so that a load which broke off
and is completed the same day writes the same rows. They have what the page is there to show: facts that change, a note
that is edited or withdrawn, syncs that failed or broke off, rows past their expiry and rows without one.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from core.services.capture import read_snapshots
from core.services.demo_changes import Changes
from core.services.demo_content import DemoDialog
from core.services.demo_marks import DEMO, demo_id
from core.snapshots.rows import MARKER, Snapshot

DAYS = 14  # today included
KEPT = timedelta(days=14)
EXPIRED_DAYS = range(15, 21)
EXPIRED_A_DAY = 10
# Names of files in demo_data, in the order of the days on which they left rows behind.
EXPIRED_DIALOGS = ("daniel-olena", "thomas-olena", "andrii-olena", "martin-iryna", "mikhail-iryna", "bohdan-iryna")
WITHOUT_EXPIRY_DAY = 9
OUTAGE_DAY = 6  # upstream answered slowly: every third sync did not happen, some of the others broke off
FELL_SILENT = ("oliver-sofiia", "vasyl-lesia", "victor-daria")  # no sync any more since SILENT_DAYS
SILENT_DAYS = 4
MESSAGES = 8


@dataclass(frozen=True)
class Delivery:
    """One sync of one dialog; not `complete`: it broke off before its mark, and notes and messages are missing."""

    dialog: DemoDialog
    at: datetime
    complete: bool


def demo_snapshots(dialogs: Sequence[DemoDialog], now: datetime) -> list[dict[str, Any]]:
    """Rows as desk_write_demo_snapshots takes them, oldest day first; none of them after `now`."""
    changes = {dialog.name: Changes.of(dialog) for dialog in dialogs}
    rows = []
    for delivery in _deliveries(dialogs, now):
        ago = (now.date() - delivery.at.date()).days
        expired = ago in EXPIRED_DAYS
        found = _rows(delivery, changes[delivery.dialog.name], ago)
        for row in found[:EXPIRED_A_DAY] if expired else found:
            endless = ago == WITHOUT_EXPIRY_DAY and row.entity_type == "photo" and len(delivery.dialog.name) % 3 == 0
            rows.append(
                {
                    **row.as_row(),
                    "id": demo_id("snapshot", *row.identity),
                    "created_at": delivery.at.isoformat(),
                    "expires_at": None if endless else (delivery.at + KEPT).isoformat(),
                }
            )
    return rows


def _deliveries(dialogs: Sequence[DemoDialog], now: datetime) -> Iterator[Delivery]:
    named = {dialog.name: dialog for dialog in dialogs}
    for ago, name in zip(reversed(EXPIRED_DAYS), EXPIRED_DIALOGS, strict=True):
        if name in named:
            yield Delivery(named[name], _moment(now.date() - timedelta(ago), 300), True)
    for ago in range(DAYS - 1, -1, -1):
        day = now.date() - timedelta(ago)
        for dialog in dialogs:
            rng = random.Random(f"sync {dialog.name} {day}")
            at = _moment(day, 180 + rng.randrange(240))
            luck = rng.random()
            missed = luck < (1 / 3 if ago == OUTAGE_DAY else 0.04)
            silent = dialog.name in FELL_SILENT and ago <= SILENT_DAYS
            if at <= now and not missed and not silent:
                yield Delivery(dialog, at, complete=luck < (0.75 if ago == OUTAGE_DAY else 0.94))


def _rows(delivery: Delivery, changes: Changes, ago: int) -> list[Snapshot]:
    """The entities of one delivery and its mark; nothing where the dialog had not begun."""
    dialog, at = delivery.dialog, delivery.at
    owner = dialog.ingests[0].owner
    messages = [m for m in _merged(dialog, "allMessages") if m.get("sent_at", "") < at.isoformat()]
    notes = [n for n in (_note(raw, place) for place, raw in enumerate(_merged(dialog, "aiNotes"))) if _before(n, at)]
    if not messages and _merged(dialog, "allMessages"):
        return []
    profile, url = changes.profile(_profile(dialog, at), ago)
    body = {
        "ruId": owner.ru_id,
        "tuId": owner.tu_id,
        "family": DEMO,
        "syncDate": at.date().isoformat(),
        "profileRu": profile,
        "profileTu": {"name": dialog.name.partition("-")[2].capitalize()},
        "photoRu": url,
        "notes": changes.notes(notes, ago) if delivery.complete else [],
        "dialog": [_line(m) for m in messages[-MESSAGES:]] if delivery.complete else [],
    }
    found = list(read_snapshots(body, at.date()).rows)
    if delivery.complete:
        done = {"completedAt": at.isoformat()}
        found.append(
            replace(found[0], entity_type=MARKER, source_role="", source_id="daily-sync", payload=done, text=None)
        )
    return found


def _profile(dialog: DemoDialog, at: datetime) -> Mapping[str, Any]:
    """The last profile that an ingest brought before that moment, else the first that one brought."""
    found: Mapping[str, Any] = {}
    for ingest in dialog.ingests:
        profile = (ingest.body.get("conversationJson") or {}).get("profileRu")
        if profile and (not found or ingest.created_at <= at):
            found = profile
    return found


def _merged(dialog: DemoDialog, name: str) -> list[Mapping[str, Any]]:
    """A list of the payloads over all ingests; of two with one id the later one counts, in the place of the first."""
    found: dict[Any, Mapping[str, Any]] = {}
    for ingest in dialog.ingests:
        for item in (ingest.body.get("conversationJson") or {}).get(name) or ():
            found[item["id"]] = item
    return list(found.values())


def _note(raw: Mapping[str, Any], place: int) -> dict[str, Any]:
    """A note with the moment at which somebody wrote it: two of one day would have one identity."""
    if "date" not in raw:
        return {"text": raw["text"]}
    at = datetime.combine(date.fromisoformat(raw["date"]), time(8 + place % 12, 7 * place % 60), UTC)
    return {"date": raw["date"], "text": raw["text"], "timestamp": at.isoformat()}


def _before(note: Mapping[str, Any], at: datetime) -> bool:
    return note.get("timestamp", "") < at.isoformat()


def _line(message: Mapping[str, Any]) -> dict[str, Any]:
    initiator = "ru" if message.get("is_incoming") else "tu"
    return {"date": message.get("sent_at"), "initiator": initiator, "text": message.get("body")}


def _moment(day: date, minute: int) -> datetime:
    return datetime.combine(day, time(minute // 60, minute % 60), UTC)
