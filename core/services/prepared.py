"""A body on its way into memory, before anything is embedded or written: its key, its chunks, and what was noticed."""

from __future__ import annotations

from dataclasses import dataclass

from core.memory.chunks import Chunk, build_chunks
from core.memory.keys import both_keys
from core.memory.notices import Notice
from core.memory.payload import Normalised, with_key
from core.memory.store import ChunkStore, Owner

REASONS = {
    "tips": "Key of RU and TU, in the order of the tips flow.",
    "generic": "Key of TU and RU, in the order of the memory API.",
    "custom": "The dialogKey of the request.",
}


@dataclass(frozen=True)
class PreviewChunk:
    """A chunk as it would be written; `state` is new, stale (re-embedded), excluded or unchanged."""

    chunk: Chunk
    state: str


@dataclass(frozen=True)
class Preview:
    """What an ingest of the same body would do now; nothing was embedded or written."""

    dialog_key: str
    key_order: str
    key_reason: str
    favorite_id: str
    ru_id: str | None
    tu_id: str | None
    chunks: tuple[PreviewChunk, ...]
    notices: tuple[Notice, ...]
    model: str

    def count(self, state: str) -> int:
        return sum(item.state == state for item in self.chunks)


@dataclass(frozen=True)
class Prepared:
    """`reason` says why this key; `notices` are of the payload and of what was cut."""

    normalised: Normalised
    reason: str
    chunks: list[Chunk]
    notices: tuple[Notice, ...]

    @property
    def owner(self) -> Owner:
        n = self.normalised
        return Owner(n.dialog_key, n.ru_id, n.tu_id, n.favorite_id, n.compose_mode)


def prepare(store: ChunkStore, normalised: Normalised, upload: bool) -> Prepared:
    """Key and chunks. `upload`: of the pair's two keys the one that has rows, else the tips key.

    Errors: DatabaseError.
    """
    reason = REASONS[normalised.key_order]
    if upload and normalised.key_order != "custom" and normalised.ru_id and normalised.tu_id:
        tips, generic = both_keys(normalised.ru_id, normalised.tu_id)
        counts = store.counts([tips, generic])
        if counts[generic] and not counts[tips]:
            normalised = with_key(normalised, generic)
            reason = f"Key of TU and RU: this pair has {counts[generic]:,} chunks there, none under the other order."
        else:
            normalised = with_key(normalised, tips)
            reason = "Key of RU and TU: this pair has no chunks yet."
            if counts[tips]:
                also = f"; {counts[generic]:,} more stand under the other order" if counts[generic] else ""
                reason = f"Key of RU and TU: this pair has {counts[tips]:,} chunks there{also}."
    chunks, notices = build_chunks(normalised)
    return Prepared(normalised, reason, chunks, tuple(dict.fromkeys((*normalised.notices, *notices))))
