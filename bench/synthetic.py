"""Synthetic memory for benchmarks: unit vectors round topic centres, dialogs of known sizes, loaded by binary COPY."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import psycopg

MODEL = "gemini-embedding-001:768"
DIMENSIONS = 768
CENTRES = 400
SPREAD = 0.7  # noise against centre: neighbours exist, and are not duplicates
BIG = {10_000: 1, 1_000: 5, 100: 10}  # dialogs by number of chunks; the rest have about ten each
SHARES = {"conversation": 0.70, "note": 0.18, "profile": 0.08, "photo": 0.02, "summary": 0.02}
COLUMNS = (
    "dialog_key, content_hash, client_id, woman_id, favorite_id, source, source_id, text, note_date, sent_at,"
    " embedding_model, embedding"
)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
START = datetime(2026, 10, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Dialog:
    key: str
    chunks: int


def dialogs(rows: int, small: int) -> list[Dialog]:
    """`small` little dialogs and the big ones of `BIG`, `rows` chunks in all where `rows` allows it."""
    sizes = [size for size, count in BIG.items() for _ in range(count) if size <= rows // 4]
    each, extra = divmod(max(rows - sum(sizes), small), small)
    sizes += [each + (1 if i < extra else 0) for i in range(small)]
    return [Dialog(f"dialog-{i:05d}-{size}", size) for i, size in enumerate(sizes)]


class Vectors:
    """Unit vectors (float32) near a fixed set of centres; the same seed gives the same vectors."""

    def __init__(self, seed: int = 7) -> None:
        self._random = np.random.default_rng(seed)
        self._centres = self._unit(self._random.standard_normal((CENTRES, DIMENSIONS)))

    def draw(self, n: int) -> np.ndarray:
        chosen = self._centres[self._random.integers(CENTRES, size=n)]
        noise = self._unit(self._random.standard_normal((n, DIMENSIONS)))
        return self._unit(chosen + SPREAD * noise).astype(np.float32)

    @staticmethod
    def _unit(rows: np.ndarray) -> np.ndarray:
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def load(connection: psycopg.Connection, wanted: list[Dialog], vectors: Vectors) -> int:
    """Write the chunks of these dialogs, dialog by dialog; returns their number. Triggers are the caller's business."""
    random = np.random.default_rng(11)
    names, shares = list(SHARES), list(SHARES.values())
    loaded = 0
    with (
        connection.cursor() as cursor,
        cursor.copy(f"copy client_memory_chunks ({COLUMNS}) from stdin (format binary)") as copy,
    ):
        copy.write(b"PGCOPY\n\xff\r\n\0" + struct.pack(">ii", 0, 0))
        for number, dialog in enumerate(wanted):
            rows = vectors.draw(dialog.chunks).astype(">f4")
            sources = random.choice(len(names), size=dialog.chunks, p=shares)
            copy.write(b"".join(_rows(dialog, number, rows, [names[s] for s in sources])))
            loaded += dialog.chunks
        copy.write(struct.pack(">h", -1))
    return loaded


def _rows(dialog: Dialog, number: int, vectors: np.ndarray, sources: list[str]) -> Iterator[bytes]:
    for position, (vector, source) in enumerate(zip(vectors, sources, strict=True)):
        moment = START + timedelta(minutes=number % 5_000, hours=position % 1_000)
        dated = source in ("note", "summary")
        fields = (
            dialog.key.encode(),
            uuid.uuid5(uuid.NAMESPACE_OID, f"{dialog.key}:{position}").hex.encode(),
            f"ru-{number}".encode(),
            f"tu-{number % 500}".encode(),
            dialog.key.encode(),
            source.encode(),
            f"{source}:{position}".encode(),
            f"{source} {position}: a line of about the length that a message of a dialog has, no more".encode(),
            struct.pack(">i", (moment - EPOCH).days) if dated else None,
            struct.pack(">q", (moment - EPOCH) // timedelta(microseconds=1)) if source == "conversation" else None,
            MODEL.encode(),
            struct.pack(">hh", DIMENSIONS, 0) + vector.tobytes(),
        )
        yield struct.pack(">h", len(fields)) + b"".join(
            struct.pack(">i", -1) if field is None else struct.pack(">i", len(field)) + field for field in fields
        )
