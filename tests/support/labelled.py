"""Invented labelled queries with candidates, without a database."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

import numpy as np

from core.memory.score import Candidates
from core.memory.sources import SOURCES
from core.tuning.judged import Judged
from core.tuning.labels import Judgement, LabelledQuery
from core.tuning.metrics import UNJUDGED


def judgement(chunk_id: str, grade: int, **values: object) -> Judgement:
    """A grade by one person, unless said otherwise."""
    given: dict[str, object] = {
        "id": str(uuid.uuid4()),
        "chunk_id": chunk_id,
        "content_hash": "c" + chunk_id,
        "parts_hash": "p" + chunk_id,
        "source": "note",
        "source_id": None,
        "grade": grade,
        "why": None,
        "label_source": "person",
        "judge": "local",
    }
    return Judgement(**{**given, **values})  # type: ignore[arg-type]


def judged(
    grades: Sequence[int],
    *,
    cosines: Sequence[float] | None = None,
    sources: Sequence[str] | None = None,
    lexical: Sequence[float] | None = None,
    query: str = "q1",
    dialog: str = "d1",
    category: str | None = None,
) -> Judged:
    """A query whose chunk n has grades[n] (-1: unjudged), by falling cosine unless cosines are given."""
    n = len(grades)
    ids = [f"{i:08d}-0000-0000-0000-000000000000" for i in range(n)]
    values = np.linspace(0.9, 0.1, n) if cosines is None else np.asarray(cosines, dtype=float)
    given = np.array(grades, dtype=np.int8)
    return Judged(
        LabelledQuery(query, dialog, f"text of {query}", category),
        Candidates.of(ids, list(sources or ["note"] * n), values),
        np.zeros(n) if lexical is None else np.asarray(lexical, dtype=float),
        dict.fromkeys(ids, 10),
        given,
        given[given >= 0],
    )


def random_pool(queries: int, chunks: int, *, dialogs: int = 5, seed: int = 1) -> list[Judged]:
    """Queries over random chunks of all sources, a fifth of them judged."""
    random = np.random.default_rng(seed)
    pool = []
    for n in range(queries):
        grades = np.where(random.random(chunks) < 0.2, random.integers(0, 4, chunks), UNJUDGED)
        pool.append(
            judged(
                grades.tolist(),
                cosines=np.round(random.normal(0.5, 0.1, chunks), 2),  # ties are common
                sources=[SOURCES[i] for i in random.integers(0, len(SOURCES), chunks)],
                lexical=np.round(random.gamma(1.0, 2.0, chunks), 1),
                query=f"q{n}",
                dialog=f"d{n % dialogs}",
                category=("facts", "dates")[n % 2],
            )
        )
    return pool
