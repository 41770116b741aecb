"""Label queries: sets of them, what is put before a grader, grades, files. What people do on Tuning, as one service."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access.roles import permit
from core.errors import InputError, NotFound
from core.events.emitter import Events
from core.memory.retrieval import Profile
from core.memory.text import is_blank, storable
from core.tuning.judged import Found
from core.tuning.label_store import Added, Given, LabelStore, RecordedQuery
from core.tuning.labels import (
    CATEGORY_LIMIT,
    GRADES,
    NAME_LIMIT,
    NOTE_LIMIT,
    QUERY_LIMIT,
    LabelledQuery,
    LabelSource,
    QuerySet,
    SetSummary,
)
from core.tuning.pooling import Pooled, pool, shuffled
from core.tuning.shelf import Shelf

QUERIES_A_CALL = 500
DEPTH = 12


@dataclass(frozen=True)
class Sheet:
    """One query before a grader: the pooled chunks in their order, and the chunks judged before that no profile of the
    pool found; `found` for the texts around."""

    query: LabelledQuery
    chunks: tuple[Pooled, ...]
    found: Found


@dataclass(frozen=True)
class Waiting:
    """A query with `unjudged` of its `shown` chunks in the top of a profile."""

    query: LabelledQuery
    shown: int
    unjudged: int


class Labelling:
    """Thread-safe; one per process. Reads need `judgements`, changes `judge`. Errors: Forbidden, DatabaseError."""

    def __init__(self, store: LabelStore, shelf: Shelf, events: Events) -> None:
        self._store = store
        self._shelf = shelf
        self._events = events

    def sets(self, *, archived: bool = False) -> tuple[SetSummary, ...]:
        allow("judgements")
        return self._store.sets(archived=archived)

    def query_set(self, id: str) -> QuerySet:
        """With queries and judgements. Errors: NotFound."""
        allow("judgements")
        found = self._store.read(id)
        if found is None:
            raise no_set()
        return found

    def create(self, name: str, note: str = "", *, id: str | None = None) -> str:
        """The id of a new set; the same `id` twice is one set. Errors: InputError naming the field."""
        allow("judge")
        name = plain(name, "name", NAME_LIMIT)
        note_text = plain(note, "note", NOTE_LIMIT, needed=False)
        made = id or str(uuid.uuid4())
        event = self._events.prepare("QuerySetCreated", {}, record_id=made)
        if self._store.create(made, name, note_text or None, event):
            self._events.announce(event)
        return made

    def archive(self, id: str, *, archived: bool = True) -> bool:
        """Put a set away, or bring it back; False where it was so already."""
        allow("judge")
        event = self._events.prepare("QuerySetArchived" if archived else "QuerySetReopened", {}, record_id=id)
        changed = self._store.archive(id, archived, event)
        if changed:
            self._events.announce(event)
        return changed

    def add(
        self, query_set: str, dialog_key: str, queries: Sequence[str], *, category: str = "", note: str = ""
    ) -> Added:
        """Queries about one dialog. Errors: InputError naming the field, NotFound for the set."""
        return self.add_rows(
            query_set,
            [{"dialog_key": dialog_key, "query": text, "category": category, "note": note} for text in queries],
        )

    def add_rows(self, query_set: str, rows: Sequence[Mapping[str, Any]]) -> Added:
        """Queries as {dialog_key, query, category?, note?}. Errors: as `add`."""
        allow("judge")
        if not 0 < len(rows) <= QUERIES_A_CALL:
            raise InputError(f"Give 1 to {QUERIES_A_CALL} queries.", field="queries")
        ready = [
            {
                "id": str(uuid.uuid4()),
                "dialog_key": row["dialog_key"],
                "query": plain(row["query"], "query", QUERY_LIMIT),
                "category": plain(row.get("category") or "", "category", CATEGORY_LIMIT, needed=False) or None,
                "note": plain(row.get("note") or "", "note", NOTE_LIMIT, needed=False) or None,
            }
            for row in rows
        ]
        event = self._events.prepare("QueriesAdded", {}, record_id=query_set)
        done = self._store.add(query_set, ready, event)
        if done is None:
            raise no_set()
        if done.added:
            self._events.announce(event)
        return done

    def remove(self, query_id: str) -> bool:
        """Take a query out of its set; what was judged stays stored."""
        allow("judge")
        event = self._events.prepare("QueryRemoved", {}, record_id=query_id)
        removed = self._store.remove(query_id, event)
        if removed:
            self._events.announce(event)
        return removed

    def sheet(self, query: LabelledQuery, profiles: Sequence[Profile], *, depth: int = DEPTH) -> Sheet:
        """The best of several profiles for one query, each text once, who ranked it unseen. Errors: ProviderError."""
        allow("judgements")
        [found] = self._shelf.found([query])
        pooled = pool(found, profiles, depth)
        listed = {id for one in pooled for id in one.ids}
        earlier = {j.chunk_id for j in query.judgements if j.present} - listed
        return Sheet(query, (*pooled, *shuffled(found, earlier)), found)

    def waiting(self, given: QuerySet, profile: Profile, *, depth: int = DEPTH, llm: bool = False) -> list[Waiting]:
        """The queries of a set with unjudged chunks in the top of a profile, the most first."""
        allow("judgements")
        rows = []
        for found in self._shelf.found(given.queries):
            query = given.query(found.query.id) or found.query
            taken = found.judged(query, llm=llm).rank(profile).taken[:depth]
            known = query.grades(llm=llm)
            missing = sum(found.candidates.ids[i] not in known for i in taken)
            rows.append(Waiting(query, len(taken), missing))
        return sorted(rows, key=lambda row: -row.unjudged)

    def recorded(self, query_set: str, *, limit: int = 50) -> tuple[tuple[RecordedQuery, ...], int]:
        """Queries of recorded searches with unjudged results, the most first; and how many there are."""
        allow("judgements")
        return self._store.recorded(query_set, limit=limit)

    def judge(
        self,
        query_id: str,
        chunk_ids: Sequence[str],
        grade: int,
        *,
        why: str = "",
        label_source: LabelSource = "person",
        judge: str | None = None,
    ) -> int:
        """Grade a chunk, and those with the same words. A second grade is another row. Errors: InputError naming grade
        or why, NotFound where a chunk or the query is gone."""
        allow("judge")
        if isinstance(grade, bool) or grade not in GRADES:
            raise InputError("A grade is 0, 1, 2 or 3.", field="grade")
        reason = plain(why, "why", NOTE_LIMIT, needed=False)
        row = {"query_id": query_id, "grade": grade, "why": reason, "label_source": label_source, "judge": judge}
        event = self._events.prepare("JudgementsGiven", {}, record_id=query_id)
        given = self._store.judge([{**row, "chunk_id": id} for id in chunk_ids], event)
        if given is None:
            raise NotFound("The chunk or the query is not stored any more.", hint="Reload the page.")
        self._events.announce(event)
        return given

    def history(self, query_id: str, parts_hash: str) -> tuple[Given, ...]:
        allow("judgements")
        return self._store.history(query_id, parts_hash)


def plain(text: str, field: str, limit: int, *, needed: bool = True) -> str:
    """One text of a person: storable, trimmed, not too long. Errors: InputError naming the field."""
    plain = storable(text or "").strip()
    if needed and is_blank(plain):
        raise InputError(f"The {field} is empty.", field=field)
    if len(plain) > limit:
        raise InputError(f"The {field} is longer than {limit:,} characters.", field=field)
    return plain


def no_set() -> NotFound:
    return NotFound("This query set is not there.", hint="Choose another one.")


def allow(action: str) -> None:
    permit(action)
