"""Invented dialogs to ingest, and embedders that count or fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.embedding.test import TestEmbedder

ODD_KEY = 'k"1,2\\3(x)/y+z %2F ü'


def body(
    key: str | None = "k1",
    *,
    messages: int = 6,
    notes: Sequence[str] = ("He worries about trust. He was hurt before.", "Likes long walks by the river."),
    **arguments: Any,
) -> dict[str, Any]:
    """A complete request body: profile, photo, notes and messages; with `key` None the ids decide."""
    favorite = {
        "id": "fav-1",
        "clientId": "ru-1",
        "operatorId": "tu-9",
        "profile": {
            "name": "Taras",
            "age": 34,
            "city": {"name": "Lviv"},
            "details": {"goal": ["serious relationship"], "hobbies": ["chess", "tea"]},
            "main_photo": {"url": "https://example.org/p/1.jpg"},
        },
        "allMessages": [message(n) for n in range(1, messages + 1)],
        "aiNotes": [
            {"id": f"n{n}", "text": text, "date": f"2026-05-{n + 9:02}"} for n, text in enumerate(notes, start=1)
        ],
    }
    made: dict[str, Any] = {"conversationJson": {"favorite": favorite}, **arguments}
    return made if key is None else {"dialogKey": key, **made}


def message(number: int, text: str | None = None) -> dict[str, Any]:
    return {
        "id": f"m{number}",
        "body": f"message number {number} about topic {number % 7}" if text is None else text,
        "is_incoming": number % 2 == 1,
        "sent_at": f"2026-05-{1 + number // 24:02}T{number % 24:02}:00:00Z",
        "type": 1,
    }


class SpyEmbedder(TestEmbedder):
    """The deterministic embedder; `batches` holds the texts of every call, `name` can be another model's."""

    __test__ = False

    def __init__(self, name: str = "test:768") -> None:
        super().__init__()
        self.model = name
        self.batches: list[list[str]] = []
        self.before: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        return self.model

    @property
    def texts(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if self.before:
            self.before()
        self.batches.append(list(texts))
        return super().embed_documents(texts)


class BrokenEmbedder(TestEmbedder):
    """Fails in the way of one exception, or of a function that spoils the vectors."""

    __test__ = False

    def __init__(self, fault: Exception | Callable[[np.ndarray], np.ndarray]) -> None:
        super().__init__()
        self._fault = fault

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        if isinstance(self._fault, Exception):
            raise self._fault
        return self._fault(super().embed_documents(texts))

    def embed_query(self, text: str) -> np.ndarray:
        if isinstance(self._fault, Exception):
            raise self._fault
        return super().embed_query(text)
