"""What is put before a grader: the best chunks of several profiles, each once, in an order that tells nothing. Pure."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from core.memory.fusion import rank_profile
from core.memory.retrieval import Profile
from core.memory.score import ChunkRow
from core.tuning.judged import Found


@dataclass(frozen=True)
class Pooled:
    """A chunk to be graded; `same` are chunks of the pool with the same words, which get the same grade."""

    row: ChunkRow
    same: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        return (self.row.id, *self.same)


def pool(found: Found, profiles: Sequence[Profile], depth: int) -> tuple[Pooled, ...]:
    """The top `depth` of every profile, each text once, shuffled by a hash of query and chunk.

    The order is the same at every look and says nothing about who ranked what where.
    """
    ids: set[str] = set()
    for profile in profiles:
        ids.update(rank_profile(found.candidates, found.lexical, profile, found.lengths).taken_ids()[:depth])
    return shuffled(found, ids)


def shuffled(found: Found, ids: set[str]) -> tuple[Pooled, ...]:
    """These chunks of a query, as `pool` orders them; those without a text are left out."""
    order = sorted(ids, key=lambda i: sha256(f"{found.query.id}:{i}".encode()).digest())
    by_text: dict[tuple[str, str], list[ChunkRow]] = {}
    for chunk_id in order:
        row = found.texts.get(chunk_id)
        if row is not None:
            by_text.setdefault((row.source, _folded(row.text)), []).append(row)
    return tuple(Pooled(rows[0], tuple(row.id for row in rows[1:])) for rows in by_text.values())


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())
