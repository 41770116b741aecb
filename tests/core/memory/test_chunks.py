"""Chunks of a whole payload: which, in which order, and that the same payload gives the same."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.memory.chunks import build_chunks
from core.memory.keys import chunk_hash, tips_key
from core.memory.payload import normalise, with_key
from core.memory.text import units

PAYLOAD: dict[str, Any] = {
    "data": {
        "favorite": {
            "id": "f",
            "profile": {"name": "Ann", "age": 34, "main_photo": {"url": "https://x/y.jpg"}},
            "messages": [
                {"id": "m1", "body": "I feel warm", "is_incoming": True, "sent_at": "2026-11-01T10:00:00Z", "photo": 1}
            ],
            "aiNotes": [{"id": "n:1", "date": "2026-05-20", "text": "First part. " * 40}],
        }
    }
}
BODY = {"conversationJson": PAYLOAD, "ruId": "r", "tuId": "t", "summaries": [{"id": "s", "text": "a summary"}]}


def test_every_source_in_order() -> None:
    """Profile lines, photo, pieces of notes, summaries, messages; each with its own fields alone."""
    chunks, notices = build_chunks(normalise(BODY))
    assert [(c.source, c.source_id, c.original_id) for c in chunks] == [
        ("profile", "profile:1", "profile:1"),
        ("profile", "profile:2", "profile:2"),
        ("photo", "https://x/y.jpg", "photo:https://x/y.jpg"),
        ("note", "n:1", "note:n:1:1"),
        ("note", "n:1", "note:n:1:2"),
        ("summary", "s", "summary:s:1"),
        ("conversation", "m1", "conversation:m1"),
    ]
    assert chunks[0].text == "Name: Ann" and chunks[2].text == "Main profile photo is available: https://x/y.jpg"
    assert {c.note_date for c in chunks if c.source == "note"} == {"2026-05-20"}
    last = chunks[-1]
    assert (last.text, last.direction, last.sent_at) == ("I feel warm [photo]", "incoming", "2026-11-01T10:00:00+00:00")
    assert last.tags == ("conversation", "emotional") and last.note_date is None
    assert notices == []


def test_hash_is_the_formula() -> None:
    """Dialog key, source, source id and text, and nothing else."""
    chunks, _ = build_chunks(normalise(BODY))
    for c in chunks:
        assert c.content_hash == chunk_hash(tips_key("r", "t"), c.source, c.source_id, c.text)


def test_profile_numbers_count_the_lines_there_are() -> None:
    """N is the place among the non-empty lines from 1, as the existing service numbers them."""
    body = {**BODY, "conversationJson": {"profile": {"age": 34, "details": {"occupation": "nurse"}}}}
    chunks, _ = build_chunks(normalise(body))
    assert [(c.source_id, c.text) for c in chunks[:2]] == [("profile:1", "Age: 34"), ("profile:2", "Occupation: nurse")]


def test_equal_hashes_are_written_once() -> None:
    """The same id and text twice is one chunk and a notice that counts; another text under the id is another chunk."""
    messages = [{"id": "m", "body": b, "is_incoming": True, "sent_at": "2026-11-01T10:00:00Z"} for b in "aaab"]
    chunks, (notice,) = build_chunks(normalise({**BODY, "conversationJson": messages, "summaries": None}))
    assert [c.text for c in chunks] == ["a", "b"]
    assert (notice.field, notice.kind, notice.count) == ("conversation", "repeated", 2)


def test_composed_and_decomposed_are_two() -> None:
    """Texts that differ by code points alone are two chunks: hashes must equal JavaScript's."""
    messages = [{"id": "m", "body": b, "is_incoming": True, "sent_at": 1792892400} for b in ("Zo\u00eb", "Zoe\u0308")]
    chunks, notices = build_chunks(normalise({**BODY, "conversationJson": messages, "summaries": None}))
    assert len({c.content_hash for c in chunks}) == 2 and notices == []


def test_another_key_gives_other_hashes() -> None:
    """with_key moves everything: key, order, a favourite id that was the key, and each hash."""
    normalised = normalise({**BODY, "conversationJson": []})
    moved = with_key(normalised, normalised.generic_key or "")
    assert (moved.key_order, moved.favorite_id) == ("generic", normalised.generic_key)
    ours, theirs = build_chunks(normalised)[0], build_chunks(moved)[0]
    assert len(ours) == len(theirs) == 1 and ours[0].content_hash != theirs[0].content_hash
    assert with_key(replace(normalised, favorite_id="f"), "k").favorite_id == "f"


def test_nothing_gives_no_chunk() -> None:
    """An empty payload has no chunk and four missing parts."""
    normalised = normalise({"conversationJson": {}, "ruId": 1, "tuId": 2})
    assert build_chunks(normalised) == ([], [])
    assert [n.field for n in normalised.notices] == ["profile", "conversation", "notes", "photo"]


texts = st.text(max_size=1_200)
payloads = st.fixed_dictionaries(
    {
        "notes": st.lists(st.fixed_dictionaries({"id": st.integers(0, 5), "text": texts}), max_size=5),
        "messages": st.lists(st.fixed_dictionaries({"id": st.integers(0, 5), "body": texts}), max_size=5),
        "profile": st.fixed_dictionaries({"name": texts, "age": st.integers()}),
    }
)


@given(payloads)
def test_laws(payload: dict[str, Any]) -> None:
    """Ingesting again gives the same hashes, as JSON text too; each is there once and within the limits."""
    body = {"conversationJson": payload, "ruId": "r", "tuId": "t"}
    chunks, _ = build_chunks(normalise(body))
    again, _ = build_chunks(normalise({**body, "conversationJson": json.dumps(payload)}))
    assert chunks == again
    assert len({c.content_hash for c in chunks}) == len(chunks)
    assert all(1 <= units(c.text) <= 420 for c in chunks if c.source in ("note", "conversation"))


@given(texts.filter(lambda t: t.strip() != ""))
def test_pieces_of_a_note_give_the_note(text: str) -> None:
    """Pieces of one note hold the whole cut note, in order."""
    (note,) = normalise({"conversationJson": {"notes": [{"text": "x" + text}]}, "ruId": 1, "tuId": 2}).notes
    chunks, notices = build_chunks(
        normalise({"conversationJson": {"notes": [{"text": "x" + text}]}, "ruId": 1, "tuId": 2})
    )
    if not notices and all(len(word) <= 420 for word in note.text.split(" ")):
        assert " ".join(c.text for c in chunks) == note.text


@pytest.mark.skipif(
    not os.environ.get("LOCOMO_DIR"), reason="LOCOMO_DIR is not set: the LoCoMo conversations are not here"
)
def test_locomo_reads_with_the_warnings_it_deserves() -> None:
    """Real payloads at once: every note, 80 messages, and warnings of what is missing, cut and left out alone."""
    for path in sorted(Path(os.environ["LOCOMO_DIR"]).glob("payload_*.json")):
        payload = json.loads(path.read_text(encoding="utf-8"))
        normalised = normalise({"conversationJson": {"data": payload["data"]}})
        warnings = {(n.field, n.kind) for n in normalised.notices if n.is_warning}
        assert len(normalised.messages) == 80 and len(normalised.notes) == len(payload["data"]["favorite"]["aiNotes"])
        assert warnings <= {("photo", "missing"), ("conversation", "cut"), ("conversation", "limit")}
