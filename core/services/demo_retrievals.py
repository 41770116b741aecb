"""Three hundred recorded searches for the demo: requests of its usage, each with the chunks that stood there then.

What is asked are the labelled queries and some messages of the dialogs. Their vectors are shipped, so that a replay
finds what the record says. A few are as real ones are: by words, of an embedder that did not answer, or without result.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from core.clock import Clock
from core.db.client import Database
from core.embedding.provider import Embedder
from core.events.actor import run_as, system
from core.memory.chunks import Chunk
from core.memory.fallback import MODEL as LEXICAL_MODEL
from core.memory.fallback import Passage, lexical_hits
from core.memory.fusion import rank_profile
from core.memory.hits import Hit, Latency, SearchResult
from core.memory.requests import SearchRequest
from core.memory.retrieval import SEED
from core.memory.score import Candidates, ChunkRow
from core.memory.search import hits_of
from core.retrievals.recorder import Recorder
from core.services.demo_content import FOLDER, DemoDialog
from core.services.demo_judged import query_sets
from core.services.demo_marks import demo_id
from core.services.demo_usage import demo_usage
from core.services.demo_vectors import ShippedVectors, read_vectors
from core.usage.entries import UsageRow

FILE = FOLDER / "query_vectors.npz"
NUMBER, DAYS = 300, 27  # within the retention of thirty days
MESSAGES = 2  # of a dialog, asked as a query
LEAST = 25  # characters of such a message
BY_WORDS, NOTHING = 0.03, 0.02


def demo_queries(dialogs: Sequence[DemoDialog]) -> dict[str, list[str]]:
    """What is asked, by dialog key: the labelled queries, then the latest messages that say something."""
    asked: dict[str, list[str]] = {}
    for made in query_sets(dialogs):
        for query in made["queries"]:
            asked.setdefault(query["dialog_key"], []).append(query["query"])
    for dialog in dialogs:
        for ingest in dialog.ingests:
            said = [c.text for c in ingest.chunks if c.direction == "incoming" and len(c.text) >= LEAST]
            asked.setdefault(ingest.owner.dialog_key, []).extend(said[-MESSAGES:])
    return {key: list(dict.fromkeys(queries)) for key, queries in asked.items() if queries}


def rebuild_queries(dialogs: Sequence[DemoDialog], embedder: Embedder) -> int:
    """Write the shipped file of query vectors anew, float16; the number of queries. Errors: ProviderError."""
    queries = sorted({query for asked in demo_queries(dialogs).values() for query in asked})
    vectors = np.stack([embedder.embed_query(query) for query in queries])
    width = int(np.flatnonzero(vectors.any(axis=0))[-1]) + 1
    np.savez_compressed(FILE, queries=np.array(queries), values=vectors[:, :width].astype(np.float16))
    return len(queries)


def demo_retrievals(
    db: Database, dialogs: Sequence[DemoDialog], now: datetime, usage: Sequence[UsageRow] | None = None
) -> list[dict[str, Any]]:
    """Records as `desk_record_retrievals` takes them, oldest first; chunks have the ids of their rows.

    Errors: DatabaseError, BadEmbedding where a shipped file is damaged.
    """
    shipped, vectors = read_vectors(), _query_vectors()
    asked = {
        key: known for key, queries in demo_queries(dialogs).items() if (known := [q for q in queries if q in vectors])
    }
    stored = {key: _stored(db, key, dialogs) for key in asked}
    records = []
    for row in _requests(usage if usage is not None else demo_usage(dialogs, now), asked, now):
        rng = random.Random(f"retrieval {row.request_id}")
        query = rng.choice(asked[row.dialog_key or ""])
        request = SearchRequest(
            dialog_key=row.dialog_key or "",
            client_id=row.ru_id if rng.random() >= NOTHING else "another-ru",
            query=query,
            request_id=row.request_id,
        )
        records.append(_record(request, row.at, stored[request.dialog_key], vectors[query], shipped, rng))
    return records


def _requests(usage: Sequence[UsageRow], asked: Mapping[str, Any], now: datetime) -> list[UsageRow]:
    """The first calls of requests that are recorded: NUMBER of the last days, oldest first."""
    first: dict[str, UsageRow] = {}
    for row in usage:
        if row.request_id and row.dialog_key in asked and row.at >= now - timedelta(days=DAYS):
            first.setdefault(row.request_id, row)
    rows = list(first.values())
    chosen = random.Random("retrievals").sample(rows, min(NUMBER, len(rows)))
    return sorted(chosen, key=lambda row: (row.at, row.request_id or ""))


class _At(Clock):
    """The moment of one record."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at


def _record(
    request: SearchRequest,
    at: datetime,
    stored: Sequence[tuple[str, Chunk]],
    vector: np.ndarray,
    shipped: ShippedVectors,
    rng: random.Random,
) -> dict[str, Any]:
    nobody = request.client_id == "another-ru"
    then = [(id, chunk) for id, chunk in stored if not nobody and _known_then(chunk, at)]
    by_words = rng.random() < BY_WORDS
    hits = _by_words(request, then) if by_words else _by_meaning(request, then, vector, shipped)
    found = SearchResult(
        favorite_id=request.dialog_key,
        dialog_key=request.dialog_key,
        query=request.query,
        hits=hits,
        model=LEXICAL_MODEL if by_words else shipped.model,
        weights=dict(SEED.weights),
        weights_version=SEED.version,
        fallback=by_words,
        latency=Latency(0.0 if by_words else rng.uniform(7, 22), rng.uniform(3, 9), rng.uniform(0.1, 0.6)),
        total=len(then),
        searchable=len(then),
        request_id=request.request_id,
    )
    with run_as(system("bootstrap")):
        row = Recorder(None, _At(at)).row(request, found, hits)  # type: ignore[arg-type]  # nothing is written here
    return {**row, "id": demo_id("retrieval", request.request_id)}


def _by_meaning(
    request: SearchRequest, then: Sequence[tuple[str, Chunk]], vector: np.ndarray, shipped: ShippedVectors
) -> tuple[Hit, ...]:
    if not then:
        return ()
    texts = shipped.of([chunk.text for _, chunk in then])
    cosines = texts @ vector / (np.linalg.norm(texts, axis=1) * np.linalg.norm(vector))
    rows = {id: ChunkRow(id, c.source, c.source_id, c.text, c.note_date, c.sent_at, c.direction) for id, c in then}
    candidates = Candidates.of([id for id, _ in then], [c.source for _, c in then], cosines, rows)
    return hits_of(rank_profile(candidates, None, SEED))


def _by_words(request: SearchRequest, then: Sequence[tuple[str, Chunk]]) -> tuple[Hit, ...]:
    passages = [Passage(id, c.source, c.source_id, c.text, c.note_date, c.sent_at, c.direction) for id, c in then]
    return lexical_hits(request.query, passages, SEED.weights, request.limit)


def _known_then(chunk: Chunk, at: datetime) -> bool:
    if chunk.sent_at is not None:
        return datetime.fromisoformat(chunk.sent_at) <= at
    return chunk.note_date is None or chunk.note_date <= at.date().isoformat()


def _stored(db: Database, dialog_key: str, dialogs: Sequence[DemoDialog]) -> list[tuple[str, Chunk]]:
    """Chunks of one dialog that have a shipped vector, with the ids of their rows."""
    chunks = {
        chunk.content_hash: chunk
        for dialog in dialogs
        for ingest in dialog.ingests
        if ingest.owner.dialog_key == dialog_key and ingest.model is None
        for chunk in ingest.chunks
    }
    return [(row["id"], chunks[row["content_hash"]]) for row in _rows(db, dialog_key) if row["content_hash"] in chunks]


def _rows(db: Database, dialog_key: str) -> Iterator[dict[str, Any]]:
    for page in db.pages("client_memory_chunks", "id,content_hash", where={"dialog_key": dialog_key}):
        yield from page


def _query_vectors() -> dict[str, np.ndarray]:
    """float32 (768,) by query; nothing where the file is not there: then no search of the demo is recorded."""
    if not FILE.exists():
        return {}
    with np.load(FILE) as file:
        values = file["values"].astype(np.float32)
        padded = np.zeros((len(values), 768), dtype=np.float32)
        padded[:, : values.shape[1]] = values
        return dict(zip(file["queries"].tolist(), padded, strict=True))
