"""Labelled queries with the cosine of every chunk: fetched once, then any profile is ranked without the database.

One `desk_candidates` a query; the texts of a dialog, which lexical fusion and budgets need, come with its first query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.db.client import Database
from core.embedding.provider import Embedder, to_pgvector
from core.memory.bm25 import Bm25Index
from core.memory.fusion import Fused, rank_profile
from core.memory.retrieval import Profile
from core.memory.score import Candidates, ChunkRow
from core.memory.search import candidates_of, compose_filter
from core.tuning.labels import LabelledQuery, by_dialog
from core.tuning.metrics import UNJUDGED

EVERY_TEXT = 1_000_000


@dataclass(frozen=True, eq=False)
class Judged:
    """One labelled query: n `candidates`, `lexical` their BM25 (n,), `grades` int (n,), UNJUDGED where nobody judged.

    `known`: the grades of all judged chunks that are stored, searchable or not; `lengths`: characters by id.
    """

    query: LabelledQuery
    candidates: Candidates
    lexical: np.ndarray
    lengths: Mapping[str, int]
    grades: np.ndarray
    known: np.ndarray

    def rank(self, profile: Profile) -> Fused:
        return rank_profile(self.candidates, self.lexical, profile, self.lengths)

    @property
    def relevant(self) -> bool:
        return bool((self.known > 0).any())


@dataclass(frozen=True, eq=False)
class Found:
    """A query's candidates before anybody's grades; `texts`: every chunk of the dialog, by id."""

    query: LabelledQuery
    candidates: Candidates
    lexical: np.ndarray
    texts: Mapping[str, ChunkRow]
    lengths: Mapping[str, int]

    def judged(self, query: LabelledQuery | None = None, *, llm: bool = False) -> Judged:
        """With the grades of the query as it was read, or as it is now."""
        query = query or self.query
        given = query.grades(llm=llm)
        grades = np.full(len(self.candidates), UNJUDGED, dtype=np.int8)
        for chunk_id, grade in given.items():
            place = self.candidates.positions.get(chunk_id)
            if place is not None:
                grades[place] = grade
        known = np.fromiter(given.values(), dtype=np.int8, count=len(given))
        return Judged(query, self.candidates, self.lexical, self.lengths, grades, known)


def fetch(
    db: Database,
    embedder: Embedder,
    queries: Sequence[LabelledQuery],
    *,
    progress: Callable[[int, int], None] | None = None,
    check: Callable[[], None] | None = None,
) -> Iterator[Found]:
    """Each query's candidates, dialog by dialog. SQL: desk_candidates, once a query.

    Errors: ProviderError of the embedder, DatabaseError; and whatever `check` raises, between two queries.
    """
    done = 0
    for dialog_key, asked in by_dialog(queries).items():
        texts: dict[str, ChunkRow] | None = None
        index = Bm25Index.of((), ())
        lengths: dict[str, int] = {}
        for query in asked:
            if check:
                check()
            params = {
                "p_dialog_key": dialog_key,
                "p_query": to_pgvector(embedder.embed_query(query.query)),
                "p_model": embedder.name,
                "p_compose_mode": compose_filter("both"),
                "p_texts": 0 if texts is not None else EVERY_TEXT,
            }
            candidates = candidates_of(db.rpc("desk_candidates", params, read=True, returns=dict))
            if texts is None:
                texts = dict(candidates.rows)
                index = Bm25Index.of(list(texts), [row.text for row in texts.values()])
                lengths = {chunk_id: len(row.text) for chunk_id, row in texts.items()}
            yield Found(query, candidates, index.of_ids(query.query, candidates.ids), texts, lengths)
            done += 1
            if progress:
                progress(done, len(queries))
