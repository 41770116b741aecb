"""The chunk table as ingest writes it: what is missing, what is stale, one transaction per write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.db.client import Database
from core.embedding.provider import to_pgvector
from core.memory.chunks import Chunk
from core.memory.speakers import Speakers, speakers_of

WRITE_BATCH = 500  # rows of one write call: about 4 MB of JSON, about a second with an HNSW index in place
HASH_BATCH = 5_000
SAMPLE_ROWS = 50


@dataclass(frozen=True)
class Missing:
    """Hashes of one dialog that have no row (`absent`), or a row of another embedding model or none (`stale`).

    `excluded` have none because somebody took them out. `erased_at`: when the dialog was erased, ISO text.
    """

    absent: frozenset[str]
    stale: frozenset[str]
    excluded: frozenset[str] = frozenset()
    erased_at: str | None = None


@dataclass(frozen=True)
class Written:
    added: int
    reembedded: int
    excluded: int = 0

    def __add__(self, other: Written) -> Written:
        return Written(self.added + other.added, self.reembedded + other.reembedded, self.excluded + other.excluded)


NOTHING = Written(0, 0)


@dataclass(frozen=True)
class Owner:
    """Whose memory a row belongs to; the columns that every chunk of one ingest shares."""

    dialog_key: str
    ru_id: str | None
    tu_id: str | None
    favorite_id: str
    compose_mode: str


class ChunkStore:
    """Writes of `client_memory_chunks`, through our functions alone. Thread-safe, as its Database is."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def missing_hashes(self, dialog_key: str, hashes: Sequence[str], model: str) -> Missing:
        """Which of these hashes need an embedding by `model`; all others have one. SQL: desk_missing_hashes."""
        absent: set[str] = set()
        stale: set[str] = set()
        excluded: set[str] = set()
        erased_at: str | None = None
        for start in range(0, len(hashes), HASH_BATCH):
            params = {"p_dialog_key": dialog_key, "p_hashes": hashes[start : start + HASH_BATCH], "p_model": model}
            answer = self._db.rpc("desk_missing_hashes", params, read=True, returns=dict)
            absent.update(answer["absent"])
            stale.update(answer["stale"])
            excluded.update(answer["excluded"])
            erased_at = answer["erased_at"]
        return Missing(frozenset(absent), frozenset(stale), frozenset(excluded), erased_at)

    def write(
        self,
        owner: Owner,
        rows: Sequence[Mapping[str, Any]],
        seen: Mapping[str, int] | None = None,
        seen_hashes: Sequence[str] | None = None,
    ) -> Written:
        """Upsert rows; stamp what the whole ingest saw, {source: n}; one transaction. SQL: desk_write_chunks.

        `seen_hashes` are all hashes of the ingest: a text that came back (34, 35, 34 again) is then the current one.
        """
        params = {
            "p_dialog_key": owner.dialog_key,
            "p_rows": list(rows),
            "p_seen": dict(seen or {}),
            "p_seen_hashes": None if seen_hashes is None else list(seen_hashes),
        }
        answer = self._db.rpc("desk_write_chunks", params, read=False, returns=dict)
        return Written(int(answer["added"]), int(answer["reembedded"]), int(answer["excluded"]))

    def counts(self, dialog_keys: Sequence[str]) -> dict[str, int]:
        """Chunks per dialog key, 0 for a key without any. SQL: desk_dialog_status."""
        answer = self._db.rpc("desk_dialog_status", {"p_dialog_keys": list(dialog_keys)}, read=True, returns=dict)
        return {key: sum((answer.get(key) or {}).get("counts", {}).values()) for key in dialog_keys}

    def speakers(self, dialog_keys: Iterable[str]) -> dict[str, Speakers]:
        """Who speaks in each dialog: RU by the newest stored profile, TU by the newest snapshot of that profile.

        SQL: desk_speaker_names.
        """
        keys = list(dict.fromkeys(dialog_keys))
        names = self._db.rpc("desk_speaker_names", {"p_dialog_keys": keys}, read=True, returns=dict) if keys else {}
        return {key: speakers_of(**(names.get(key) or {})) for key in keys}

    def sample(self, limit: int = SAMPLE_ROWS) -> list[dict[str, Any]]:
        """Up to `limit` rows by id, which is random: what their keys and hashes were made of. Never an embedding."""
        columns = "id,dialog_key,content_hash,client_id,woman_id,source,source_id,text"
        return self._db.sample("client_memory_chunks", columns, order="id", limit=limit)


def chunk_rows(
    owner: Owner, chunks: Iterable[Chunk], vectors: Mapping[str, np.ndarray], model: str
) -> list[dict[str, Any]]:
    """Rows as desk_write_chunks takes them, every row with every column; `vectors` by content hash."""
    return [
        {
            "dialog_key": owner.dialog_key,
            "content_hash": chunk.content_hash,
            "client_id": owner.ru_id,
            "woman_id": owner.tu_id,
            "favorite_id": owner.favorite_id,
            "source": chunk.source,
            "source_id": chunk.source_id,
            "text": chunk.text,
            "direction": chunk.direction,
            "compose_mode": owner.compose_mode,
            "embedding": to_pgvector(vectors[chunk.content_hash]),
            "embedding_model": model,
            "language": None,
            "note_date": chunk.note_date,
            "sent_at": chunk.sent_at,
            "tags": list(chunk.tags),
            "metadata": {"originalChunkId": chunk.original_id, "scoreAtIngestion": None},
        }
        for chunk in chunks
    ]
