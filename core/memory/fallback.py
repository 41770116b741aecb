"""Search without vectors: 128 hashed words. Neither pgvector nor semantic, and every answer made here says so.

Source: spec/memory.md section 5. The three apostrophes of Ukrainian words are made one before hashing (U+0027, which
the hash takes for a gap), so that each spelling finds the others and the hash stays equal to the existing service's.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.embedding.lexical import lexical_cosine, lexical_vector
from core.memory.chunks import Chunk
from core.memory.hits import Hit
from core.memory.notices import Notice
from core.memory.score import Candidates, ChunkRow

MODEL = "lexical:128"
ROW_NAMESPACE = uuid.UUID("6a3f0c51-6e0e-4f6f-9d0f-6d1f0f4f5b11")
APOSTROPHES = str.maketrans({"\u2019": "'", "\u02bc": "'"})


@dataclass(frozen=True)
class Passage:
    """A text that can be compared by its words, with what a hit shows of it."""

    id: str
    source: str
    source_id: str | None
    text: str
    note_date: str | None = None
    sent_at: str | None = None
    direction: str | None = None


def passage_of(chunk: Chunk) -> Passage:
    """A chunk of the request's own payload; its id is derived from the content hash, as there may be no row of it."""
    row_id = str(uuid.uuid5(ROW_NAMESPACE, chunk.content_hash))
    return Passage(row_id, chunk.source, chunk.source_id, chunk.text, chunk.note_date, chunk.sent_at, chunk.direction)


def lexical_notice(reason: str) -> Notice:
    """What every answer made here must say; `reason` is the failure's own words."""
    return Notice("fallback", f"Lexical results: words in common, not meaning, and no vector search. {reason}")


def lexical_cosines(query: str, texts: Sequence[str]) -> np.ndarray:
    """Cosine of each text with the query, 0..1, float64; 0 where either has no word."""
    if not texts:
        return np.zeros(0)
    vectors = np.stack([lexical_vector(text.translate(APOSTROPHES)) for text in texts])
    return lexical_cosine(lexical_vector(query.translate(APOSTROPHES)), vectors)


def lexical_hits(query: str, passages: Iterable[Passage], weights: Mapping[str, float], limit: int) -> tuple[Hit, ...]:
    """The best `limit` passages by lexical cosine + boost, ties by id."""
    pool = list(passages)
    cosines = lexical_cosines(query, [p.text for p in pool])
    scored = [
        (float(cosine) + weights.get(p.source, 0.0), float(cosine), p) for p, cosine in zip(pool, cosines, strict=True)
    ]
    scored.sort(key=lambda item: (-item[0], item[2].id))
    return tuple(
        Hit(
            id=p.id,
            source=p.source,
            source_id=p.source_id,
            text=p.text,
            weighted_score=score,
            cosine=cosine,
            boost=weights.get(p.source, 0.0),
            rank=rank,
            note_date=p.note_date,
            sent_at=p.sent_at,
            direction=p.direction,
        )
        for rank, (score, cosine, p) in enumerate(scored[:limit], start=1)
    )


def lexical_candidates(query: str, passages: Sequence[Passage]) -> Candidates:
    """The passages as candidates for a what-if, each with its lexical cosine."""
    rows = {p.id: ChunkRow(p.id, p.source, p.source_id, p.text, p.note_date, p.sent_at, p.direction) for p in passages}
    cosines = lexical_cosines(query, [p.text for p in passages])
    return Candidates.of([p.id for p in passages], [p.source for p in passages], cosines, rows)
