"""What is stored, as it is read: dialogs, chunks without their embeddings, freshness, totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from core.memory.sources import SOURCES


@dataclass(frozen=True)
class DialogRow:
    """One dialog as the list shows it; times are ISO text, None where nothing is dated.

    `order`: which rule gave the key (tips, generic, custom). `also_under`: the pair's other key where that has rows
    too. `hits`: matching chunks of a text search.
    """

    dialog_key: str
    ru_id: str | None
    tu_id: str | None
    favorite_id: str | None
    chunks: int
    sources: Mapping[str, int]
    first_at: str | None
    last_at: str | None
    updated_at: str | None
    also_under: str | None = None
    order: str = "custom"
    hits: int | None = None


@dataclass(frozen=True)
class DialogPage:
    rows: tuple[DialogRow, ...]
    total: int


@dataclass(frozen=True)
class StoredChunk:
    """A row of `client_memory_chunks` without its embedding; `flags` as design.md section 6 names them."""

    id: str
    dialog_key: str
    source: str
    source_id: str | None
    text: str
    content_hash: str | None = None
    client_id: str | None = None
    woman_id: str | None = None
    favorite_id: str | None = None
    direction: str | None = None
    compose_mode: str | None = None
    embedding_model: str | None = None
    note_date: str | None = None
    sent_at: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    created_at: str | None = None
    updated_at: str | None = None
    superseded: bool = False
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChunkPage:
    rows: tuple[StoredChunk, ...]
    total: int
    flag_counts: Mapping[str, int]


@dataclass(frozen=True)
class TimelineDay:
    """Chunks of one source on one local day (YYYY-MM-DD)."""

    day: str
    source: str
    chunks: int


@dataclass(frozen=True)
class DialogStatus:
    """When a dialog's parts were last fresh (ISO text or None), and its chunks by source, zeros included."""

    last_note_at: str | None = None
    last_message_at: str | None = None
    profile_updated_at: str | None = None
    photo_updated_at: str | None = None
    last_ingest_at: str | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: dict.fromkeys(SOURCES, 0))

    @property
    def chunks(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class Pair:
    """One pair with rows under several keys; each of `keys` is {dialog_key, order, chunks, last_at, updated_at}."""

    ru_id: str
    tu_id: str
    keys: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class PairPage:
    rows: tuple[Pair, ...]
    total: int


@dataclass(frozen=True)
class MemoryOverview:
    """Totals from the rollups; `demo` is {state, chunks}; `rollup_stale` says that the totals may be old."""

    chunks: int
    dialogs: int
    by_source: Mapping[str, int]
    by_model: Mapping[str, int]
    first_at: str | None
    last_at: str | None
    ambiguous_pairs: int
    rollup_stale: bool
    demo: Mapping[str, Any]
