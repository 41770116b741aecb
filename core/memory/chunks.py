"""From normalised parts to chunks: profile, photo, notes, summaries, messages. Source: spec/memory.md section 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.memory.keys import chunk_hash
from core.memory.notes import Note
from core.memory.notices import Findings, Notice
from core.memory.payload import Normalised
from core.memory.sentences import split_text
from core.memory.sources import PROFILE_ROWS, Direction, Source
from core.memory.tags import tags_of
from core.memory.text import is_blank

PHOTO_LINE = "Main profile photo is available: "


@dataclass(frozen=True)
class Chunk:
    """One row to be, without its embedding. Notes, summaries and messages have 1 to 420 UTF-16 units of text.

    `note_date` is YYYY-MM-DD, `sent_at` ISO text in UTC. `original_id` numbers it as the existing service does:
    `profile:N`, `photo:<url>`, `note:<source_id>:<piece>`, `summary:<source_id>:<piece>`, `conversation:<source_id>`.
    """

    source: Source
    source_id: str
    text: str
    content_hash: str
    direction: Direction | None = None
    note_date: str | None = None
    sent_at: str | None = None
    tags: tuple[str, ...] = ()
    original_id: str = ""


def build_chunks(normalised: Normalised) -> tuple[list[Chunk], list[Notice]]:
    """Every chunk once, and a notice where several would have one content hash. The same payload gives equal hashes."""
    findings = Findings()
    chunks: dict[str, Chunk] = {}
    for chunk in _all(normalised):
        if chunks.setdefault(chunk.content_hash, chunk) is not chunk:
            findings.add(
                chunk.source, "repeated", "Chunks that are there already with the same id and text, written once: {n}."
            )
    return list(chunks.values()), list(findings.notices())


def _all(n: Normalised) -> Iterator[Chunk]:
    for position, line in enumerate(n.profile[:PROFILE_ROWS], start=1):
        # N counts the lines that are there, as the existing service does, so that both write the same hash.
        yield _chunk(n, "profile", f"profile:{position}", line, original_id=f"profile:{position}")
    if n.photo_url:
        yield _chunk(n, "photo", n.photo_url, PHOTO_LINE + n.photo_url, original_id=f"photo:{n.photo_url}")
    yield from _pieces(n, "note", n.notes)
    yield from _pieces(n, "summary", n.summaries)
    for message in n.messages:
        yield _chunk(
            n,
            "conversation",
            message.source_id,
            message.text,
            direction=message.direction,
            sent_at=message.sent_at,
            original_id=f"conversation:{message.source_id}",
        )


def _pieces(n: Normalised, source: Source, notes: Sequence[Note]) -> Iterator[Chunk]:
    for note in notes:
        for number, piece in enumerate(split_text(note.text), start=1):
            if not is_blank(piece):
                original = f"{source}:{note.source_id}:{number}"
                yield _chunk(n, source, note.source_id, piece, note_date=note.day, original_id=original)


def _chunk(
    n: Normalised,
    source: Source,
    source_id: str,
    text: str,
    *,
    original_id: str,
    direction: Direction | None = None,
    note_date: str | None = None,
    sent_at: str | None = None,
) -> Chunk:
    return Chunk(
        source=source,
        source_id=source_id,
        text=text,
        content_hash=chunk_hash(n.dialog_key, source, source_id, text),
        direction=direction,
        note_date=note_date,
        sent_at=sent_at,
        tags=tags_of(source, text),
        original_id=original_id,
    )
