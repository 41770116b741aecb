"""Query sets, queries and judgements in the database. Source: SQL functions desk_*quer*, desk_judge*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.db.client import Database
from core.errors import InputError
from core.events.event import Event
from core.tuning.labels import Judgement, LabelledQuery, QuerySet, SetSummary

IMPORT_S = 65.0


@dataclass(frozen=True)
class Imported:
    """`unchanged`: grades that stood there already; `gone`: of chunks that are no longer stored."""

    query_set: str
    queries: int
    judgements: int
    unchanged: int
    gone: int


@dataclass(frozen=True)
class Added:
    """`present`: in the set already, or about a dialog of which nothing is stored."""

    added: int
    present: int


@dataclass(frozen=True)
class RecordedQuery:
    """A query that was really asked; `unjudged` of the `shown` chunks lack a grade. `query_id`: the set has it."""

    dialog_key: str
    query: str
    times: int
    last_at: str
    shown: int
    unjudged: int
    query_id: str | None = None
    category: str | None = None
    ru_id: str | None = None
    tu_id: str | None = None


@dataclass(frozen=True)
class Given:
    """One grade out of the history of a chunk."""

    id: str
    grade: int
    why: str | None
    label_source: str
    judge: str
    created_at: str


class LabelStore:
    """Errors of every call: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def sets(self, *, archived: bool = False) -> tuple[SetSummary, ...]:
        """The latest change first."""
        rows = self._db.rpc("desk_query_sets_list", {"p_archived": archived}, read=True, returns=list)
        return tuple(SetSummary(**row) for row in rows)

    def read(self, id: str) -> QuerySet | None:
        answer = self._db.rpc("desk_query_set", {"p_id": id}, read=True, returns=dict, timeout_s=IMPORT_S)
        return None if answer["set"] is None else _set(answer)

    def create(self, id: str, name: str, note: str | None, event: Event) -> bool:
        params = {"p_id": id, "p_name": name, "p_note": note, "p_event": event.row()}
        return bool(self._db.rpc("desk_create_query_set", params, read=False, returns=dict)["created"])

    def archive(self, id: str, archived: bool, event: Event) -> bool:
        params = {"p_id": id, "p_archived": archived, "p_event": event.row()}
        return bool(self._db.rpc("desk_archive_query_set", params, read=False, returns=dict)["changed"])

    def add(self, id: str, queries: Sequence[Mapping[str, Any]], event: Event) -> Added | None:
        """None where there is no such set."""
        params = {"p_query_set": id, "p_queries": [*queries], "p_event": event.row()}
        answer = self._db.rpc("desk_add_queries", params, read=False, returns=dict)
        return None if answer["outcome"] == "missing" else Added(int(answer["added"]), int(answer["present"]))

    def remove(self, query_id: str, event: Event) -> bool:
        params = {"p_id": query_id, "p_event": event.row()}
        return bool(self._db.rpc("desk_remove_query", params, read=False, returns=dict)["removed"])

    def judge(self, rows: Sequence[Mapping[str, Any]], event: Event) -> int | None:
        """How many grades were added; None, and nothing added, where a chunk or query is not there any more."""
        answer = self._db.rpc("desk_judge", {"p_rows": [*rows], "p_event": event.row()}, read=False, returns=dict)
        return None if answer["outcome"] == "missing" else int(answer["given"])

    def history(self, query_id: str, parts_hash: str) -> tuple[Given, ...]:
        """Every grade of one chunk for one query, the latest first."""
        params = {"p_query_id": query_id, "p_parts_hash": parts_hash}
        return tuple(Given(**row) for row in self._db.rpc("desk_judgement_history", params, read=True, returns=list))

    def recorded(self, query_set: str, *, limit: int = 50) -> tuple[tuple[RecordedQuery, ...], int]:
        """Queries of recorded searches with unjudged results, the most first; and how many there are."""
        params = {"p_query_set": query_set, "p_limit": limit}
        answer = self._db.rpc("desk_recorded_queries", params, read=True, returns=dict, timeout_s=35.0)
        return tuple(RecordedQuery(**row) for row in answer["rows"]), int(answer["total"])

    def import_rows(
        self,
        id: str,
        name: str,
        queries: Sequence[Mapping[str, Any]],
        judgements: Sequence[Mapping[str, Any]],
        event: Event,
    ) -> Imported:
        """All of it or nothing. Errors: InputError naming the lines that do not fit what is stored."""
        params = {
            "p_query_set": id,
            "p_name": name,
            "p_queries": [*queries],
            "p_judgements": [*judgements],
            "p_event": event.row(),
        }
        answer = self._db.rpc("desk_import_judgements", params, read=False, returns=dict, timeout_s=IMPORT_S)
        if answer["outcome"] == "refused":
            problems = answer["problems"]
            first = "; ".join(f"line {p['line']}, {p['field']}: {p['what']}" for p in problems[:5])
            more = f" And {len(problems) - 5} more." if len(problems) > 5 else ""
            raise InputError(f"Refused: {first}.{more}", hint="Nothing was imported.", field=problems[0]["field"])
        return Imported(id, *(int(answer[name]) for name in ("queries", "judgements", "unchanged", "gone")))


def _set(answer: Mapping[str, Any]) -> QuerySet:
    head = answer["set"]
    queries = tuple(
        LabelledQuery(
            **{name: row[name] for name in LabelledQuery.__dataclass_fields__ if name in row and name != "judgements"},
            judgements=tuple(Judgement(**given) for given in row["judgements"]),
        )
        for row in answer["queries"]
    )
    return QuerySet(head["id"], head["name"], head["note"], int(head["version"]), queries, head["archived_at"])
