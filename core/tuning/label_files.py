"""Labels out of the product and into it, as files. See core/tuning/qrels.py for the forms."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from core.events.emitter import Events
from core.tuning import qrels
from core.tuning.label_store import Imported, LabelStore
from core.tuning.labelling import allow, no_set, plain
from core.tuning.labels import NAME_LIMIT, QuerySet


class LabelFiles:
    """Thread-safe; one per process. Errors of every call: Forbidden, DatabaseError."""

    def __init__(self, store: LabelStore, events: Events) -> None:
        self._store = store
        self._events = events

    def export(
        self, id: str, form: str, *, llm: bool = False, cover: Callable[[QuerySet], QuerySet] | None = None
    ) -> str:
        """A set as jsonl or qrels; personal text leaves the product, which is an event. `cover` masks it before.

        Errors: NotFound.
        """
        allow("judgements")
        given = self._store.read(id)
        if given is None:
            raise no_set()
        if cover is not None:
            given = cover(given)
        text = qrels.to_jsonl(given) if form == "jsonl" else qrels.to_qrels(given, llm=llm)
        count = sum(len(q.judgements) for q in given.queries)
        payload = {"query_set": id, "form": form, "count": count, "queries": len(given.queries)}
        self._events.emit("JudgementsExported", payload, record_id=id)
        return text

    def import_text(
        self, text: str, *, query_set: str | None = None, name: str = "", form: str | None = None, llm: bool = False
    ) -> Imported:
        """A file into a set, a new one without `query_set`; `llm` says who labelled where qrels cannot.

        Errors: InputError naming line and field; then nothing was imported.
        """
        allow("judge")
        form = form or qrels.form_of(name, text)
        labels = (
            qrels.read_jsonl(text)
            if form == "jsonl"
            else qrels.read_qrels(text, label_source="llm" if llm else "person")
        )
        queries = [{**row, "id": str(uuid.uuid4())} for row in labels.queries]
        made = query_set or str(uuid.uuid4())
        title = plain(name or "imported", "name", NAME_LIMIT)
        event = self._events.prepare("JudgementsImported", {"form": form}, record_id=made)
        done = self._store.import_rows(made, title, queries, labels.judgements, event)
        self._events.announce(event)
        return done
