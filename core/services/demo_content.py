"""The demo dialogs: invented payloads in the form of upstream's, with days counted from today, as chunks to be written.

A file of `demo_data` holds one pair: `language`, and `ingests` in the order in which they happened, each with its
`day` and the `body` that POST /memory/ingest would have taken. Moments are written `-12 18:40` (twelve days ago, UTC)
and `-12`. Ids are always given, so that no content hash depends on the day of loading.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from pathlib import Path
from typing import Any

from core.memory.chunks import Chunk, build_chunks
from core.memory.keys import chunk_hash
from core.memory.payload import normalise
from core.memory.store import Owner
from core.memory.tags import tags_of

FOLDER = Path(__file__).with_name("demo_data")
# Day 0 has messages until one in the morning only: two hours into the day, nothing lies in the future.
SETTLED = timedelta(hours=2)


@dataclass(frozen=True)
class DemoIngest:
    """One ingest as it would have been written on its day; `model` is None where the shipped vectors belong to it.

    `body` is what POST /memory/ingest would have taken.
    """

    owner: Owner
    chunks: tuple[Chunk, ...]
    created_at: datetime
    model: str | None
    body: Mapping[str, Any]


@dataclass(frozen=True)
class DemoDialog:
    """One pair; `name` is its file's, `language` en, uk or ru."""

    name: str
    language: str
    ingests: tuple[DemoIngest, ...]


def demo_dialogs(now: datetime) -> list[DemoDialog]:
    """All of them, by name, dated so that the last six weeks end at `now`."""
    today = (now.astimezone(UTC) - SETTLED).date()
    return [
        DemoDialog(name, raw["language"], tuple(_ingest(entry, today) for entry in raw["ingests"]))
        for name, raw in _files()
    ]


def demo_texts() -> list[str]:
    """Every text that needs a vector of the local model, once, in a stable order."""
    dialogs = demo_dialogs(datetime(2026, 1, 1, 12, tzinfo=UTC))
    ingests = [ingest for dialog in dialogs for ingest in dialog.ingests if ingest.model is None]
    return list(dict.fromkeys(chunk.text for ingest in ingests for chunk in ingest.chunks))


def dated(body: Mapping[str, Any], today: date) -> dict[str, Any]:
    """The body with its days counted from `today` written as dates, as upstream sends them."""
    shifted = copy.deepcopy(dict(body))
    conversation = shifted.get("conversationJson") or {}
    for entry in (*conversation.get("aiNotes", ()), *shifted.get("summaries", ())):
        if "date" in entry:
            entry["date"] = _moment(entry["date"], today).date().isoformat()
    for message in conversation.get("allMessages", ()):
        if "sent_at" in message:
            message["sent_at"] = _moment(message["sent_at"], today).isoformat()
    return shifted


def _ingest(entry: Mapping[str, Any], today: date) -> DemoIngest:
    body = dated(entry["body"], today)
    n = normalise(body)
    chunks, _ = build_chunks(n)
    if "vision" in entry:
        chunks.append(_vision(n.dialog_key, **entry["vision"]))
    created = _moment(f"{entry['day']} {'01:30' if entry['day'] == 0 else '23:55'}", today)
    owner = Owner(n.dialog_key, n.ru_id, n.tu_id, n.favorite_id, n.compose_mode)
    return DemoIngest(owner, tuple(chunks), created, entry.get("embedding_model"), body)


def _vision(dialog_key: str, url: str, text: str) -> Chunk:
    """What is to be seen on a photo, as the analysis of photos will write it: a second chunk of the same URL."""
    digest = chunk_hash(dialog_key, "photo", url, text)
    return Chunk("photo", url, text, digest, tags=tags_of("photo", text), original_id=f"photo:{url}")


def _moment(written: str, today: date) -> datetime:
    days, _, clock = written.partition(" ")
    return datetime.combine(
        today + timedelta(days=int(days)), time.fromisoformat(clock) if clock else time(), tzinfo=UTC
    )


@cache
def _files() -> tuple[tuple[str, Mapping[str, Any]], ...]:
    return tuple(_read())


def _read() -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in sorted(FOLDER.glob("*.json")):
        yield path.stem, json.loads(path.read_text(encoding="utf-8"))
