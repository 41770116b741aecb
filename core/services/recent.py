"""The latest recorded searches, fetched again as they would be compared today: what a what-if over prompts works on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.access.roles import acting, require
from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder, to_pgvector
from core.errors import DatabaseError
from core.memory.dialog_words import DialogWords
from core.memory.search import candidates_of, compose_filter
from core.tuning.consequences import Case

LIMIT = 200
TEXTS_PER_SOURCE = 50

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Recent:
    """`recorded` searches there are in all; of the latest `asked` the `cases` could be compared.

    `nothing`: no chunk of the dialog is searchable today; `without_words`: their texts could not be read, so that
    fusion does not move them. `model` embedded every query.
    """

    cases: tuple[Case, ...]
    asked: int
    recorded: int
    nothing: int
    without_words: int
    model: str
    as_of: datetime


class RecentSearches:
    """Thread-safe. A load embeds each distinct query once and asks once per search."""

    def __init__(self, db: Database, embedder: Callable[[], Embedder], words: DialogWords, clock: Clock) -> None:
        self._db = db
        self._embedder = embedder
        self._words = words
        self._clock = clock

    def load(self, limit: int = LIMIT, progress: Progress | None = None) -> Recent:
        """The latest searches over one dialog each, without those answered by words alone.

        Errors: Forbidden, ProviderError, DatabaseError.
        """
        actor = acting()
        require(actor, "profiles")
        require(actor, "search")
        answer = self._db.rpc("desk_recent_queries", {"p_limit": limit}, read=True, returns=dict)
        rows, embedder = answer["rows"], self._embedder()
        vectors: dict[str, str] = {}
        cases: dict[str, Case] = {}
        without_words = 0
        # Dialog by dialog, so that the words of one are indexed once.
        for done, row in enumerate(sorted(rows, key=lambda r: r["dialog_key"]), start=1):
            if row["query"] not in vectors:
                vectors[row["query"]] = to_pgvector(embedder.embed_query(row["query"]))
            case = self._case(row, vectors[row["query"]], embedder.name)
            if case is not None:
                cases[case.id] = case
                without_words += case.bm25 is None
            if progress:
                progress(done, len(rows))
        return Recent(
            cases=tuple(cases[row["id"]] for row in rows if row["id"] in cases),
            asked=len(rows),
            recorded=int(answer["total"]),
            nothing=len(rows) - len(cases),
            without_words=without_words,
            model=embedder.name,
            as_of=self._clock.now(),
        )

    def _case(self, row: Mapping[str, Any], vector: str, model: str) -> Case | None:
        params = {
            "p_dialog_key": row["dialog_key"],
            "p_query": vector,
            "p_model": model,
            "p_client_id": row["client_id"],
            "p_compose_mode": compose_filter(row["compose_mode"] or "both"),
            "p_texts": TEXTS_PER_SOURCE,
        }
        answer = self._db.rpc("desk_candidates", params, read=True, returns=dict)
        whole = candidates_of(answer)
        if not len(whole):
            return None
        try:
            bm25 = self._words.scores(row["dialog_key"], row["query"], whole.ids)
        except DatabaseError:
            bm25 = None
        return Case(
            id=row["id"],
            at=row["at"],
            dialog_key=row["dialog_key"],
            candidates=type(whole)(whole.ids, whole.codes, whole.cosines),  # no text is kept: lengths are enough
            bm25=bm25,
            lengths={chunk_id: len(chunk.text) for chunk_id, chunk in whole.rows.items()},
            limit=int(row["asked_limit"]),
        )
