"""New vectors for stored chunks, as the embedder's recipe has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from core.embedding.provider import Embedder, check_vectors, to_pgvector
from core.embedding.recipe import recipe_of
from core.memory.speakers import Speakers, embedded_text
from core.memory.store import ChunkStore
from core.memory.text import is_blank


def vector_rows(embedder: Embedder, batch: Sequence[Mapping[str, Any]], store: ChunkStore) -> list[dict[str, Any]]:
    """Rows as desk_reembed_chunks takes them, of chunks with id, text, source, direction and dialog_key.

    Blank texts are left out: one spoils a whole call. Errors: ProviderError, DatabaseError.
    """
    readable = [row for row in batch if not is_blank(row["text"])]
    recipe, nobody = recipe_of(embedder.name), Speakers()
    speakers = store.speakers(row["dialog_key"] for row in readable) if recipe == "speaker" else {}
    texts = [
        embedded_text(recipe, row["source"], row["direction"], row["text"], speakers.get(row["dialog_key"], nobody))
        for row in readable
    ]
    vectors = check_vectors(embedder.embed_documents(texts), len(texts))
    return [
        {"id": row["id"], "text_hash": sha256(row["text"].encode()).hexdigest(), "embedding": to_pgvector(vector)}
        for row, vector in zip(readable, vectors, strict=True)
    ]
