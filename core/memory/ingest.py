"""The conductor of an ingest: which chunks are new, embed those alone, write them. Never deletes.

Everything is embedded before the first row is written, so a failing embedder leaves nothing behind. More new rows
than one call takes are written in transactions of 500: each is whole, and after a failure between them a second
ingest writes the rest, as the first ones are then known. Source: spec/memory.md sections 3 and 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.db.rows import batches
from core.embedding.provider import Embedder, check_vectors
from core.embedding.recipe import recipe_of
from core.errors import DatabaseError
from core.memory.chunks import Chunk
from core.memory.notices import Notice
from core.memory.speakers import Speakers, embedded_text
from core.memory.store import WRITE_BATCH, ChunkStore, Owner, Written, chunk_rows

EMBED_BATCH = 32
NO_CHUNKS = "No memory chunks were produced from the payload."

Progress = Callable[[str, int, int], None]  # stage ('embed' or 'write'), done, of how many


@dataclass(frozen=True)
class IngestResult:
    """What one ingest did. `total_chunks` = `added` + `unchanged` + `reembedded` + `excluded`, all the payload gave.

    `key_order` says how the dialog key came about: tips, generic or custom (given); `key_reason` says it in words.
    """

    favorite_id: str
    dialog_key: str
    sources: Mapping[str, int]
    total_chunks: int
    added: int
    unchanged: int
    reembedded: int
    notices: tuple[Notice, ...]
    key_order: str = "custom"
    key_reason: str = ""
    model: str | None = None
    excluded: int = 0

    @property
    def warnings(self) -> tuple[Notice, ...]:
        """Notices about what was missing or wrong; not what the rules do to every ordinary payload."""
        return tuple(notice for notice in self.notices if notice.is_warning)

    def as_json(self) -> dict[str, Any]:
        """The body of `POST /memory/ingest`; without chunks the short form of the existing service."""
        if not self.total_chunks:
            return {
                "favoriteId": self.favorite_id,
                "inserted": 0,
                "message": NO_CHUNKS,
                "totalChunks": 0,
                "warnings": _notices(self.warnings),
            }
        return {
            "favoriteId": self.favorite_id,
            "dialogKey": self.dialog_key,
            "inserted": self.total_chunks,
            "sources": dict(self.sources),
            "totalChunks": self.total_chunks,
            "added": self.added,
            "unchanged": self.unchanged,
            "reembedded": self.reembedded,
            "warnings": _notices(self.warnings),
        }


@dataclass(frozen=True)
class Plan:
    """The chunks of one ingest against what the table holds: only `pending` need a vector, in payload order."""

    chunks: tuple[Chunk, ...]
    absent: frozenset[str]
    stale: frozenset[str]
    excluded: frozenset[str] = frozenset()
    erased_at: str | None = None

    @property
    def pending(self) -> tuple[Chunk, ...]:
        wanted = self.absent | self.stale
        return tuple(chunk for chunk in self.chunks if chunk.content_hash in wanted)

    def state(self, chunk: Chunk) -> str:
        """new, stale (another model's vector, or none), excluded (somebody took it out), or unchanged."""
        if chunk.content_hash in self.absent:
            return "new"
        if chunk.content_hash in self.excluded:
            return "excluded"
        return "stale" if chunk.content_hash in self.stale else "unchanged"


def make_plan(store: ChunkStore, dialog_key: str, chunks: Sequence[Chunk], model: str) -> Plan:
    """Ask the database which hashes are absent or stale."""
    missing = store.missing_hashes(dialog_key, [chunk.content_hash for chunk in chunks], model)
    return Plan(tuple(chunks), missing.absent, missing.stale, missing.excluded, missing.erased_at)


def plan_notices(plan: Plan, excluded: int | None = None) -> tuple[Notice, ...]:
    """What an operator decided about this dialog before. `excluded`: chunks left out, where that is known by now."""
    left_out = len(plan.excluded) if excluded is None else excluded
    notices = []
    if left_out:
        what = f"Chunks left out, because somebody excluded or deleted them: {left_out:,}."
        notices.append(Notice("memory", what, "dropped", left_out))
    if plan.erased_at:
        what = f"This dialog was erased on {plan.erased_at[:10]}, and is being written again."
        notices.append(Notice("dialogKey", what, "identity"))
    return tuple(notices)


def embed(
    embedder: Embedder, plan: Plan, progress: Progress | None = None, *, speakers: Speakers | None = None
) -> dict[str, np.ndarray]:
    """Vectors of the pending chunks by content hash, 32 texts a call, as the embedder's recipe has them; `speakers` are
    the names that the speaker recipe takes. Errors: ProviderError; nothing is written."""
    vectors: dict[str, np.ndarray] = {}
    pending = plan.pending
    recipe, names = recipe_of(embedder.name), speakers or Speakers()
    for batch in batches(pending, EMBED_BATCH):
        texts = [embedded_text(recipe, chunk.source, chunk.direction, chunk.text, names) for chunk in batch]
        rows = check_vectors(embedder.embed_documents(texts), len(batch))
        vectors.update(zip((chunk.content_hash for chunk in batch), rows, strict=True))
        if progress:
            progress("embed", len(vectors), len(pending))
    return vectors


def write(
    store: ChunkStore,
    owner: Owner,
    plan: Plan,
    vectors: Mapping[str, np.ndarray],
    model: str,
    progress: Progress | None = None,
) -> Written:
    """Write the pending chunks and stamp what was seen, also when nothing is pending.

    Errors: DatabaseError; its hint says how many rows a failure between two transactions left in place.
    """
    pending = plan.pending
    groups = list(batches(pending, WRITE_BATCH)) or [()]
    written = Written(0, 0)
    done = 0
    for position, group in enumerate(groups, start=1):
        rows = chunk_rows(owner, group, vectors, model)
        try:
            if position < len(groups):
                written += store.write(owner, rows)
            else:
                # The stamp comes with the last rows: until then this ingest has not been seen whole.
                hashes = [chunk.content_hash for chunk in plan.chunks]
                written += store.write(owner, rows, source_counts(plan.chunks), hashes)
        except DatabaseError as failure:
            if done:
                failure.hint = (
                    f"{done} of {len(pending)} new chunks are stored; ingest again for the rest. {failure.hint}"
                )
            raise
        done += len(group)
        if progress:
            progress("write", done, len(pending))
    return written


def source_counts(chunks: Sequence[Chunk]) -> dict[str, int]:
    """Chunks by source, only sources that have any."""
    return dict(Counter(chunk.source for chunk in chunks))


def _notices(notices: Sequence[Notice]) -> list[dict[str, str]]:
    return [{"field": notice.field, "message": notice.message} for notice in notices]
