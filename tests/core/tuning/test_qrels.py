"""Files of labels: what is written comes back; what is malformed is refused by line and field."""

from __future__ import annotations

import json
import uuid
from dataclasses import replace

import pytest

from core.errors import InputError
from core.tuning import qrels
from core.tuning.labels import LabelledQuery, QuerySet
from tests.support.labelled import judgement

Q = str(uuid.UUID(int=1))
A, B = str(uuid.UUID(int=10)), str(uuid.UUID(int=11))
HASH = "ab" * 32


def given() -> QuerySet:
    odd = 'line\u2028break "quotes" \t tab'
    query = LabelledQuery(Q, "d/1", odd, "facts", "a note")
    return QuerySet(
        str(uuid.UUID(int=2)),
        "name",
        None,
        3,
        (
            replace(
                query,
                judgements=(
                    judgement(A, 3, why="says it", content_hash=HASH, parts_hash=HASH, source_id="n1"),
                    judgement(A, 1, judge="m", label_source="llm", content_hash=HASH, parts_hash=HASH),
                    judgement(B, 0, content_hash=HASH, parts_hash=HASH, created_at="2026-11-30T10:00:00+00:00"),
                ),
            ),
        ),
    )


def test_jsonl_comes_back_whole() -> None:
    """Query, category, note, and each grade with who, why, when and how the chunk is found again."""
    labels = qrels.read_jsonl(qrels.to_jsonl(given()))
    [query] = labels.queries
    [one] = given().queries
    assert (query["dialog_key"], query["query"]) == (one.dialog_key, one.query)
    assert (query["category"], query["note"]) == ("facts", "a note")
    for row, j in zip(labels.judgements, one.judgements, strict=True):
        assert row["ref"] == Q and row["chunk_id"] == j.chunk_id and row["content_hash"] == j.content_hash
        assert (row["grade"], row["why"], row["judge"]) == (j.grade, j.why, j.judge)
        assert (row["label_source"], row["at"], row["source_id"]) == (j.label_source, j.created_at, j.source_id)


def test_a_mark_and_windows_line_ends_change_nothing() -> None:
    """BOM, CRLF and a blank last line: the same rows."""
    plain = qrels.to_jsonl(given())
    assert qrels.read_jsonl("\ufeff" + plain.replace("\n", "\r\n") + "\r\n") == qrels.read_jsonl(plain)


def test_qrels_hold_what_counts() -> None:
    """People's grades alone, unless a model's are asked for; four columns that read back."""
    text = qrels.to_qrels(given())
    assert text == f"{Q} 0 {A} 3\n{Q} 0 {B} 0\n"
    rows = qrels.read_qrels(text).judgements
    assert [(r["ref"], r["chunk_id"], r["grade"]) for r in rows] == [(Q, A, 3), (Q, B, 0)]
    assert {r["label_source"] for r in qrels.read_qrels(text, label_source="llm").judgements} == {"llm"}


def line(**changes: object) -> str:
    row = {"type": "judgement", "queryId": Q, "chunkId": A, "grade": 2}
    return json.dumps({k: v for k, v in {**row, **changes}.items() if v is not None})


@pytest.mark.parametrize(
    ("second", "field"),
    [
        ("{", "line"),
        ("[1]", "line"),
        ('{"type": "judgement", "grade": NaN}', "line"),
        ('{"type": "other"}', "type"),
        (line(grade=4), "grade"),
        (line(grade=True), "grade"),
        (line(grade="2"), "grade"),
        (line(grade=2.5), "grade"),
        (line(grade=None), "grade"),
        (line(chunkId="c1"), "chunkId"),
        (line(chunkId=None), "chunkId"),
        (line(queryId=None), "queryId"),
        (line(labelSource="cat"), "labelSource"),
        (line(at="yesterday"), "at"),
        (line(at="2026-11-30T10:00:00"), "at"),
        (line(contentHash="xyz"), "contentHash"),
        (line(why="w" * 1_001), "why"),
        (line(why="\ud800"), "why"),
        (line(colour="red"), "colour"),
        (line(), "chunkId"),  # the same chunk again: the file does not say which grade it means
        ('{"type": "query", "id": "x", "dialogKey": "d1", "query": "  "}', "query"),
        ('{"type": "query", "id": "x", "query": "words"}', "dialogKey"),
    ],
)
def test_a_malformed_line_is_named(second: str, field: str) -> None:
    """Line number and field; nothing of the file is used."""
    with pytest.raises(InputError) as refused:
        qrels.read_jsonl(line() + "\n\n" + second + "\n")
    assert refused.value.what.startswith(f"Line 3, {field}:") and refused.value.field == field


@pytest.mark.parametrize(
    ("second", "field"),
    [
        (f"{Q} 0 {B}", "line"),
        (f"{Q} 0 {B} x", "grade"),
        (f"{Q} 0 {B} -1", "grade"),
        (f"{Q} 0 {B} ²", "grade"),
        (f"q1 0 {B} 1", "query"),
        (f"{Q} 0 doc 1", "chunk"),
        (f"{Q} 0 {A} 1", "chunk"),
    ],
)
def test_malformed_qrels_are_named(second: str, field: str) -> None:
    """As for JSONL."""
    with pytest.raises(InputError) as refused:
        qrels.read_qrels(f"{Q} 0 {A} 3\n{second}\n")
    assert refused.value.what.startswith(f"Line 2, {field}:")


def test_an_empty_file_is_no_import() -> None:
    """Nor is one of blank lines."""
    for text in ("", "\n \r\n"):
        with pytest.raises(InputError, match="no line"):
            qrels.read_jsonl(text)


def test_the_form_is_seen() -> None:
    """By its first character, whatever the file is called."""
    assert qrels.form_of("a.txt", '\ufeff{"type": "query"}') == "jsonl"
    assert qrels.form_of("a.txt", f"{Q} 0 {A} 1") == "qrels"
