"""Labels as files: JSONL with everything, TREC qrels with ids and grades. Reading is strict: one bad line, and nothing.

JSONL, one object a line: {"type": "query", "id", "dialogKey", "query", "category"?, "note"?} and {"type": "judgement",
"queryId", "chunkId", "grade", "why"?, "judge"?, "labelSource"?, "at"?, "contentHash"?, "partsHash"?, "source"?,
"sourceId"?}. The last four find the chunk again, or keep its grade, where its id is gone. qrels: `query 0 chunk grade`,
apart by white space; the query is one of the set, by its id.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.tuning import fields
from core.tuning.labels import CATEGORY_LIMIT, NOTE_LIMIT, QUERY_LIMIT, Judgement, QuerySet

JUDGE_LIMIT = 200
QUERY_FIELDS = {"type", "id", "dialogKey", "query", "category", "note"}
JUDGEMENT_FIELDS = {
    *("type", "queryId", "chunkId", "grade", "why", "judge", "labelSource", "at"),
    *("contentHash", "partsHash", "source", "sourceId"),
}


@dataclass(frozen=True)
class Labels:
    """The rows of a file as `desk_import_judgements` takes them, each with its `line`."""

    queries: tuple[Mapping[str, Any], ...]
    judgements: tuple[Mapping[str, Any], ...]


def to_jsonl(given: QuerySet) -> str:
    """Queries, each followed by the latest grade of each judge; models' labels are there, marked as such."""
    lines: list[str] = []
    for query in given.queries:
        row = {
            "type": "query",
            "id": query.id,
            "dialogKey": query.dialog_key,
            "query": query.query,
            "category": query.category,
            "note": query.note,
        }
        lines.append(_line(row))
        lines += [_line(_judgement_row(query.id, j)) for j in query.judgements]
    return "".join(lines)


def to_qrels(given: QuerySet, *, llm: bool = False) -> str:
    """The one grade that counts of each chunk; qrels have no place for a judge, a reason or a text."""
    rows = [
        f"{query.id} 0 {chunk} {grade}\n"
        for query in given.queries
        for chunk, grade in sorted(query.grades(llm=llm).items())
    ]
    return "".join(rows)


def read_jsonl(text: str) -> Labels:
    """Errors: InputError naming line and field of the first thing that does not fit."""
    queries: list[dict[str, Any]] = []
    judgements: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for number, line in fields.lines(text):
        row = fields.object_of(line, number)
        kind = row.get("type")
        if kind == "query":
            made = _query(row, number)
            queries.append(made)
            key: tuple[Any, ...] = ("query", made["ref"])
            fields.once(seen, ("words", made["dialog_key"], made["query"]), number, "query")
        elif kind == "judgement":
            made = _judgement(row, number)
            judgements.append(made)
            key = ("judgement", made["ref"], made["chunk_id"], made["judge"], made["label_source"])
        else:
            raise fields.bad(number, "type", "is neither query nor judgement")
        fields.once(seen, key, number, "id" if kind == "query" else "chunkId")
    return Labels(tuple(queries), tuple(judgements))


def read_qrels(text: str, *, label_source: str = "person") -> Labels:
    """Errors: InputError naming line and field."""
    rows: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for number, line in fields.lines(text):
        parts = line.split()
        if len(parts) != 4:
            raise fields.bad(number, "line", f"has {len(parts)} columns, not the four of qrels")
        query, _, chunk, grade = parts
        rows.append(
            {
                "line": number,
                "ref": fields.uuid_of(query, number, "query"),
                "chunk_id": fields.uuid_of(chunk, number, "chunk"),
                "grade": fields.grade(int(grade) if grade.lstrip("-").isascii() and grade.isdigit() else grade, number),
                "label_source": label_source,
                "judge": None,
            }
        )
        fields.once(seen, (rows[-1]["ref"], rows[-1]["chunk_id"]), number, "chunk")
    return Labels((), tuple(rows))


def _judgement_row(query_id: str, j: Judgement) -> dict[str, Any]:
    return {
        "type": "judgement",
        "queryId": query_id,
        "chunkId": j.chunk_id,
        "grade": j.grade,
        "why": j.why,
        "judge": j.judge,
        "labelSource": j.label_source,
        "at": j.created_at,
        "contentHash": j.content_hash,
        "partsHash": j.parts_hash,
        "source": j.source,
        "sourceId": j.source_id,
    }


def _query(row: Mapping[str, Any], line: int) -> dict[str, Any]:
    fields.only(row, QUERY_FIELDS, line)
    ref = fields.text(row, "id", line, 200)
    return {
        "line": line,
        "ref": ref,
        "dialog_key": fields.text(row, "dialogKey", line, 512),
        "query": fields.text(row, "query", line, QUERY_LIMIT),
        "category": fields.text(row, "category", line, CATEGORY_LIMIT, needed=False),
        "note": fields.text(row, "note", line, NOTE_LIMIT, needed=False),
    }


def _judgement(row: Mapping[str, Any], line: int) -> dict[str, Any]:
    fields.only(row, JUDGEMENT_FIELDS, line)
    source = row.get("labelSource", "person")
    if source not in ("person", "llm"):
        raise fields.bad(line, "labelSource", "is neither person nor llm")
    return {
        "line": line,
        "ref": fields.text(row, "queryId", line, 200),
        "chunk_id": fields.uuid_of(fields.text(row, "chunkId", line, 36), line, "chunkId"),
        "grade": fields.grade(row.get("grade"), line),
        "why": fields.text(row, "why", line, NOTE_LIMIT, needed=False),
        "judge": fields.text(row, "judge", line, JUDGE_LIMIT, needed=False),
        "label_source": source,
        "at": fields.moment(row, line),
        "content_hash": fields.digest(row, "contentHash", line),
        "parts_hash": fields.digest(row, "partsHash", line),
        "source": fields.text(row, "source", line, 40, needed=False),
        "source_id": fields.text(row, "sourceId", line, 512, needed=False),
    }


READERS: Mapping[str, Callable[[str], Labels]] = {"jsonl": read_jsonl, "qrels": read_qrels}


def _line(row: Mapping[str, Any]) -> str:
    return json.dumps({k: v for k, v in row.items() if v is not None}, ensure_ascii=False) + "\n"


def form_of(name: str, text: str) -> str:
    """jsonl or qrels: by the first character, as names of files vary."""
    return "jsonl" if text.removeprefix("\ufeff").lstrip()[:1] == "{" or name.endswith(".jsonl") else "qrels"
