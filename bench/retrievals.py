"""The retrieval record: what it adds to a search, and what Prompt audit asks of a large one."""

from __future__ import annotations

import tempfile
from pathlib import Path

import psycopg

from bench.core_paths import Counting, interleaved, notes
from core.bootstrap import Core, build_core
from core.config import read_settings
from core.memory.requests import SearchRequest
from core.services.search import SearchService

RECORDS = 30_000  # a thousand a day, kept for thirty

FILL = """
insert into memory_retrievals (id, at, request_id, scope, dialog_key, query, query_hash, query_len, asked_limit, model,
                               weights, weights_version, results, top_score, tokens)
select gen_random_uuid(), now() - n * interval '80 seconds', 'r' || n, 'dialog', 'd' || n %% 400, 'query ' || n, 'h', 9,
       12, 'test:768', '{}', 1, 12, 0.9, 700
from generate_series(1, %s) n
"""
CHUNKS = """
insert into memory_retrieval_chunks (retrieval, rank, chunk_id, dialog_key, source, text, cosine, boost, score, tokens)
select r.id, n, md5(r.dialog_key || (r.query_len * n + length(r.request_id)) % 60)::uuid, r.dialog_key, 'note',
       repeat('a text of the record ', 8), 0.8, 0.1, 0.9, 60
from memory_retrievals r, generate_series(1, 12) n where r.dialog_key <> 'thousand'
"""


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
        with build_core(settings, embedder=Counting()) as core:
            overhead(core)
            audit(core)


def overhead(core: Core) -> None:
    """A search of a 1,000-chunk dialog with its record, against the same search without one."""
    core.ingest.ingest(notes("thousand", 1000))
    request = SearchRequest("thousand", "a note about subject 77", request_id="r")
    silent = SearchService(core.db, core.embedder, core.events, core.clock, core.profiles)
    result = silent.search(request)
    recorder = core.retrievals.recorder
    recorded, plain, alone = interleaved(
        [
            lambda: core.search.search(request),
            lambda: silent.search(request),
            lambda: (recorder.record(request, result, result.hits), recorder.flush()),
        ]
    )
    print(
        f"search, 1,000 chunks: {recorded:.1f} ms recorded, {plain:.1f} ms without, ratio {recorded / plain:.2f} "
        f"(budget 1.3); written {alone:.1f} ms later"
    )


def audit(core: Core) -> None:
    """Lists, totals, one chunk's searches, never retrieved and a batch of pruning over thirty thousand records."""
    assert core.local is not None
    with psycopg.connect(core.local.endpoint.dsn, autocommit=True) as direct:
        direct.execute(FILL, [RECORDS])
        direct.execute(CHUNKS)
        direct.execute("analyze memory_retrievals, memory_retrieval_chunks")
        row = direct.execute("select chunk_id::text, dialog_key from memory_retrieval_chunks limit 1").fetchone()
    assert row is not None
    store = core.retrievals.store
    asked = {
        "first page": lambda: store.list(),
        "last page": lambda: store.list(offset=RECORDS - 25),
        "of one dialog": lambda: store.list(dialog_key=row[1]),
        "of one request": lambda: store.of_request("r777"),
        "of one chunk": lambda: store.list(chunk_id=row[0]),
        "nothing found": lambda: store.list(outcome="empty"),
        "totals": lambda: store.totals(),
        "never retrieved": lambda: store.never("thousand"),
    }
    for name, each in zip(asked, interleaved(list(asked.values())), strict=True):
        print(f"{RECORDS:,} records, {name}: {each:.1f} ms (budget 200)")


if __name__ == "__main__":
    main()
