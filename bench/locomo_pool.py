"""The LoCoMo conversations as pools: chunks as the product cuts them, with their vectors under each recipe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from core.embedding.local import LocalEmbedder
from core.embedding.recipe import Recipe
from core.memory.chunks import Chunk, build_chunks
from core.memory.payload import normalise
from core.memory.speakers import Speakers, embedded_text

SESSIONS_AN_INGEST = 2
# Who is named: the notes were measured with both names known; the product knows the client's, from the profile.
RECIPES: Mapping[str, tuple[Recipe, bool]] = {
    "plain": ("plain", True),
    "speaker": ("speaker", True),
    "speaker, client named": ("speaker", False),
}


@dataclass(frozen=True)
class Question:
    dialog: str
    text: str
    category: str
    relevant: frozenset[str]
    answer: str


@dataclass(frozen=True)
class Pool:
    """One conversation, whole. `vectors[recipe]` is float32 (n, d), rows of length 1, in the order of the chunks."""

    dialog: str
    ids: tuple[str, ...]
    chunks: tuple[Chunk, ...]
    vectors: Mapping[str, np.ndarray]


def bodies(payload: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The conversation cut into ingests: the service keeps the newest 80 messages of one, two sessions have fewer."""
    sessions, favorite = payload["sessions"], payload["data"]["favorite"]
    for start in range(0, len(sessions), SESSIONS_AN_INGEST):
        group = sessions[start : start + SESSIONS_AN_INGEST]
        turns = tuple(f"D{session['n']}:" for session in group)
        note_ids = {note_id for session in group for note_id in session["note_ids"]}
        part = {
            **favorite,
            "allMessages": [m for m in favorite["allMessages"] if m["id"].startswith(turns)],
            "aiNotes": [note for note in favorite["aiNotes"] if note["id"] in note_ids],
        }
        yield {"dialogKey": payload["dialog"], "conversationJson": {**payload["data"], "favorite": part}}


def read(folder: Path) -> tuple[list[dict[str, Any]], list[Question]]:
    """Payloads, and the questions whose evidence is known."""
    payloads = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("payload_*.json"))]
    rows = map(json.loads, (folder / "qrels.jsonl").read_text(encoding="utf-8").splitlines())
    return payloads, [
        Question(r["dialog"], r["question"], r["category_name"], frozenset(r["relevant"]), str(r["answer"]))
        for r in rows
        if r["relevant"]
    ]


def build(payload: Mapping[str, Any], vectors: Vectors) -> Pool:
    """Every chunk of a conversation once, as its ingests write them, summaries too."""
    chunks: dict[str, Chunk] = {}
    for body in bodies(payload):
        for chunk in build_chunks(normalise({**body, "summaries": payload["summaries"]}))[0]:
            chunks.setdefault(chunk.content_hash, chunk)
    both = Speakers(payload["speakers"]["RU"], payload["speakers"]["TU"])
    one = Speakers(ru=both.ru)
    texts = {
        name: [embedded_text(recipe, c.source, c.direction, c.text, both if two else one) for c in chunks.values()]
        for name, (recipe, two) in RECIPES.items()
    }
    return Pool(
        payload["dialog"],
        tuple(_uuid(h) for h in chunks),
        tuple(chunks.values()),
        {name: vectors.documents(of) for name, of in texts.items()},
    )


class Vectors:
    """Vectors of the local model, each computed once; with a folder they stay on disk from run to run."""

    def __init__(self, folder: Path | None) -> None:
        self._embedder = LocalEmbedder()
        self._folder = folder
        self._known: dict[tuple[str, str], np.ndarray] = {}
        self.embedded = 0

    def documents(self, texts: Sequence[str]) -> np.ndarray:
        return self._all("passage", texts)

    def queries(self, texts: Sequence[str]) -> np.ndarray:
        return self._all("query", texts)

    def close(self) -> None:
        self._embedder.close()

    def _all(self, kind: str, texts: Sequence[str]) -> np.ndarray:
        name = hashlib.sha256("\0".join([self._embedder.name, kind, *texts]).encode()).hexdigest()
        path = self._folder / f"{name[:32]}.npy" if self._folder else None
        if path is not None and path.exists():
            found = np.asarray(np.load(path))
            self._known |= {(kind, text): row for text, row in zip(texts, found, strict=True)}
            return found
        new = [text for text in dict.fromkeys(texts) if (kind, text) not in self._known]
        self.embedded += len(new)
        if new:
            rows = self._queries(new) if kind == "query" else self._embedder.embed_documents(new)
            rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
            self._known |= {(kind, text): row for text, row in zip(new, rows, strict=True)}
        found = np.stack([self._known[kind, text] for text in texts])
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, found)
        return found

    def _queries(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([self._embedder.embed_query(text) for text in texts])


def _uuid(digest: str) -> str:
    return f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:32]}"
