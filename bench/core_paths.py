"""The memory path through core, as ratios of one run: search, slider, ingest. Budgets: design section 8."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import psycopg

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.embedding.local import LocalEmbedder
from core.embedding.provider import Embedder, to_pgvector
from core.embedding.test import TestEmbedder
from core.errors import ProviderError
from core.memory.requests import SearchRequest
from core.memory.score import Candidates, rank
from core.memory.sources import DEFAULT_WEIGHTS, SOURCES

RUNS = 60
NEW_DIALOGS = 8
CHUNKS_A_DIALOG = 40


class Counting(TestEmbedder):
    """The deterministic embedder, its query vectors held ready: its own time is not what is measured."""

    __test__ = False

    def __init__(self) -> None:
        self.documents = 0
        self._known: dict[str, np.ndarray] = {}

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        self.documents += len(texts)
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> np.ndarray:
        if text not in self._known:
            self._known[text] = super().embed_query(text)
        return self._known[text]


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        settings = read_settings(
            {
                "MEMORY_DESK_DATABASE": "embedded",
                "MEMORY_DESK_DATA_DIR": str(Path(folder) / "data"),
                "MEMORY_DESK_EMBEDDER": "test",
                "MEMORY_DESK_DEMO": "off",
            }
        )
        embedder = Counting()
        with build_core(settings, embedder=embedder) as core:
            search(core, embedder)
            unchanged_ingest(core, embedder)
        slider()
        new_ingests(settings.model_copy(update={"embedder": "local"}))


def search(core: Core, embedder: Embedder) -> None:
    """A 1,000-chunk dialog: through core (client, gateway) against the same SQL function over a direct connection."""
    core.ingest.ingest(notes("thousand", 1000))
    request = SearchRequest("thousand", "a note about subject 77")
    vector = to_pgvector(embedder.embed_query(request.query))
    assert core.local is not None
    with psycopg.connect(core.local.endpoint.dsn, autocommit=True) as direct:
        sql = "select desk_search(%s, %s, %s, %s, %s, null, 'reply')"
        values = ("thousand", vector, embedder.name, 12, psycopg.types.json.Jsonb(dict(DEFAULT_WEIGHTS)))

        def by_sql() -> list[dict[str, Any]]:
            return direct.execute(sql, values).fetchall()[0][0]["rows"]

        assert [hit.id for hit in core.search.search(request).hits] == [row["id"] for row in by_sql()]
        ours, theirs = interleaved([lambda: core.search.search(request), by_sql])
    print(
        f"search, 1,000 chunks: core {ours:.1f} ms, direct SQL {theirs:.1f} ms, ratio {ours / theirs:.2f} (budget 2.5)"
    )
    [exploring] = interleaved([lambda: core.search.explore(request)])
    print(f"explore (all 1,000 cosines, texts, lexical), 1,000 chunks: {exploring:.1f} ms")


def unchanged_ingest(core: Core, embedder: Counting) -> None:
    """The same 100-chunk dialog again: no vector, no row, only the question which hashes are missing and the stamp."""
    body = notes("hundred", 100)
    core.ingest.ingest(body)
    before = embedder.documents
    [again] = interleaved([lambda: core.ingest.ingest(body)])
    print(
        f"ingest, unchanged 100 chunks: {again:.1f} ms (budget 100), {embedder.documents - before} embedded (budget 0)"
    )


def slider() -> None:
    """Re-ranking 2,000 candidates in numpy, without the database."""
    random = np.random.default_rng(7)
    ids = [f"{int(a):032x}" for a in random.integers(0, 2**62, 2000)]
    sources = [SOURCES[int(i)] for i in random.integers(0, len(SOURCES), 2000)]
    candidates = Candidates.of(ids, sources, random.uniform(0.6, 0.9, 2000))
    boosts = iter(np.linspace(-0.3, 0.3, RUNS + 4))
    [each] = interleaved([lambda: rank(candidates, {"note": float(next(boosts))}).top(12)])
    print(f"slider, 2,000 candidates: {each:.2f} ms (budget 5), 0 requests")


def new_ingests(settings: Any) -> None:
    """New dialogs with the local model, each against its own texts embedded alone, in alternating order."""
    embedder = LocalEmbedder()
    bodies = [notes(f"new {n}", CHUNKS_A_DIALOG, seed=n * 1000 + 1) for n in range(NEW_DIALOGS)]
    try:
        embedder.embed_query("warm up")
    except ProviderError as missing:
        print(f"ingest of new dialogs: not run ({missing.what})")
        return
    with build_core(settings, embedder=embedder) as core:
        alone = ingesting = 0.0
        for number, body in enumerate(bodies):
            calls = [lambda body=body: embed_alone(embedder, body), lambda body=body: core.ingest.ingest(body)]
            for call in calls if number % 2 else calls[::-1]:
                began = time.perf_counter()
                call()
                taken = time.perf_counter() - began
                alone, ingesting = (alone + taken, ingesting) if call is calls[0] else (alone, ingesting + taken)
    embedder.close()
    texts = NEW_DIALOGS * CHUNKS_A_DIALOG
    share = alone / ingesting
    print(
        f"ingest of new dialogs: {texts / ingesting:.1f} chunks/s, embedder alone {texts / alone:.1f}, "
        f"{share:.0%} of it (budget 90%)"
    )


def embed_alone(embedder: Embedder, body: dict[str, Any]) -> None:
    texts = [note["text"] for note in body["conversationJson"]["notes"]]
    for start in range(0, len(texts), 32):
        embedder.embed_documents(texts[start : start + 32])


def notes(key: str, count: int, seed: int = 0) -> dict[str, Any]:
    """A body whose notes are one chunk each, all different, about 100 characters long."""
    texts = [
        f"Note {seed + n} tells about subject {(seed + n) * 7 % 997}: " + "he walks by the river, " * 3
        for n in range(count)
    ]
    return {"dialogKey": key, "conversationJson": {"notes": [{"id": n, "text": t} for n, t in enumerate(texts)]}}


def interleaved(calls: Sequence[Callable[[], Any]]) -> list[float]:
    """Median milliseconds of each call, taken in turn so that a noisy moment hits all alike; four warm-up rounds."""
    times: list[list[float]] = [[] for _ in calls]
    for round_ in range(RUNS + 4):
        for call, taken in zip(calls, times, strict=True):
            began = time.perf_counter()
            call()
            if round_ >= 4:
                taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(taken) for taken in times]


if __name__ == "__main__":
    main()
