"""The one way in which the operator's records are written: a row in one step, then its event, both under one actor."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from core.access import acting
from core.clock import Clock
from core.db.client import Database
from core.errors import ConflictError, NotFound
from core.events.actor import Actor
from core.events.emitter import Events

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Change:
    """A row before and after; `fields` are the columns that really changed, none where it was so already."""

    before: Row
    row: Row
    fields: tuple[str, ...]

    def __bool__(self) -> bool:
        return bool(self.fields)


class Ledger:
    """Thread-safe. Emits nothing for what changed nothing. Errors of every call: DatabaseError."""

    def __init__(self, db: Database, events: Events, clock: Clock, zone: ZoneInfo) -> None:
        self._db = db
        self.events = events
        self._clock = clock
        self.zone = zone

    def now(self) -> datetime:
        """The present instant, with the zone of the settings."""
        return self._clock.now().astimezone(self.zone)

    def today(self) -> date:
        return self.now().date()

    def read(self, function: str, **params: Any) -> Any:
        """What a SQL function answers; dates and instants are given as they are."""
        return self._db.rpc(function, {f"p_{k}": _plain(v) for k, v in params.items()}, read=True)

    def write(self, function: str, **params: Any) -> Any:
        """The same for one that changes rows, with the actor and the instant."""
        given = {f"p_{k}": _plain(v) for k, v in params.items()}
        return self._db.rpc(function, {**given, "p_at": _plain(self.now()), "p_actor": actor().as_json()}, read=False)

    def one(self, table: str, id: str, what: str) -> Row:
        """A row that is not deleted. Errors: NotFound."""
        rows = self._db.sample(table, "*", order="id", limit=1, where={"id": known_id(id, what), "deleted_at": None})
        if not rows:
            raise gone(what)
        return rows[0]

    def insert(self, table: str, row: Row, *, id: str | None = None) -> tuple[bool, Row]:
        """Whether the row is new, and the row: the same id twice is one row."""
        at = _plain(self.now())
        whole = {"id": new_id(id), **{k: _plain(v) for k, v in row.items()}, "created_at": at, "updated_at": at}
        params = {"p_table": table, "p_row": whole, "p_actor": actor().as_json()}
        answer = self._db.rpc("companion_insert_record", params, read=False, returns=dict)
        return bool(answer["created"]), answer["row"]

    def change(
        self,
        table: str,
        id: str,
        what: str,
        values: Row,
        *,
        empty: Sequence[str] = ("deleted_at",),
        filled: Sequence[str] = (),
        match: Row | None = None,
    ) -> Change:
        """Set columns of one row that is as it is taken to be: `empty` and `filled` columns, and values in `match`.

        Errors: NotFound, and ConflictError naming what is otherwise.
        """
        answer = self.write(
            "companion_change_record",
            table=table,
            id=known_id(id, what),
            set={k: _plain(v) for k, v in values.items()},
            empty=list(empty),
            filled=list(filled),
            match={k: _plain(v) for k, v in (match or {}).items()},
        )
        if answer["outcome"] == "missing":
            raise gone(what)
        if answer["outcome"] == "refused":
            raise ConflictError(
                f"This {what} is not as it was taken to be: {', '.join(answer['fields'])}.",
                hint="Somebody changed it meanwhile; reload and look again.",
            )
        return Change(answer["before"], answer["row"], tuple(answer["fields"]))

    def claim(self, kind: str, day: date, event: Row) -> bool:
        """Whether this is the first time on that day; the event is then stored in the same transaction."""
        params = {"p_kind": kind, "p_day": day.isoformat(), "p_event": dict(event)}
        answer = self._db.rpc("companion_claim_day", params, read=False, returns=dict)
        return bool(answer["claimed"])

    def emit(self, type: str, table: str, record_id: str, /, **payload: Any) -> None:
        self.events.emit(type, payload, record_id=record_id, collection=table, actor=actor())


def actor() -> Actor:
    """Who writes. Errors: Forbidden where nobody acts."""
    return acting()


def gone(what: str) -> NotFound:
    return NotFound(f"There is no such {what}.", hint="It may have been deleted meanwhile; reload the page.")


def known_id(id: str, what: str) -> str:
    """The id as the database writes it. Errors: NotFound for what can be no id."""
    try:
        return str(uuid.UUID(id))
    except (ValueError, AttributeError, TypeError):
        raise gone(what) from None


def new_id(given: str | None) -> str:
    return str(uuid.UUID(given)) if given else str(uuid.uuid4())


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, date) else value  # a datetime is a date
