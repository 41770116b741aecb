"""Views of a page that people keep: private, or shared with the team. A link to one carries its id and nothing else."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NoReturn

from core.access import acting, permit
from core.clock import Clock
from core.db.client import Database
from core.errors import ConflictError, Forbidden, InputError, NotFound, TooLarge
from core.events.emitter import Events
from core.services.known import KnownPeople
from core.services.view_store import Opened, SavedView, ViewState, ViewStore

NAME_LIMIT = 80
STATE_LIMIT = 32 * 1024  # bytes of its JSON
AT_ONCE = 200  # views of one owner
_PAGE = re.compile(r"[a-z_]{1,40}")
_KEY = re.compile(r"[A-Za-z0-9_.\-]{1,80}")
GONE = "There is no such view of this page."
WHY_GONE = "It never was there, or it is somebody's own."


class Views:
    """Thread-safe; one per process. A private view of somebody else is as one that does not exist."""

    def __init__(self, db: Database, people: KnownPeople, events: Events, clock: Clock) -> None:
        self._store = ViewStore(db)
        self._people = people
        self._events = events
        self._clock = clock

    def list(self, page: str) -> tuple[SavedView, ...]:
        """Those of the one who acts, then those of the team. Errors: Forbidden, DatabaseError."""
        permit("save_view")
        return self._store.list(page, acting().principal_id)

    def open(self, page: str, id: str) -> Opened:
        """A view and what it shows. What somebody else typed is masked: a view reveals nothing.

        Errors: Forbidden; NotFound, also for one that was deleted, which it says; DatabaseError.
        """
        permit("save_view")
        if not _is_id(id):
            raise NotFound(GONE, hint=WHY_GONE)
        found = self._store.get(id, page, acting().principal_id)
        if found is None:
            raise NotFound(GONE, hint=WHY_GONE)
        view, state = found
        if state is None:
            raise NotFound("This view was deleted.", hint="The page is shown as it is without it.")
        if view.mine:
            return Opened(view, state)
        mask = self._people.mask(state.dialog_key)
        texts = {key: mask.text(words) for key, words in state.texts.items()}
        return Opened(view, replace(state, texts=texts), masked=texts != state.texts)

    def save(self, page: str, name: str, state: ViewState, *, shared: bool = False) -> tuple[SavedView, bool]:
        """Keep it; and whether it replaced one of the same name, whose links stay as they are.

        Errors: Forbidden; InputError naming the field, TooLarge; ConflictError where there are too many; DatabaseError.
        """
        permit("save_view")
        if shared:
            permit("share_view")
        if not _PAGE.fullmatch(page):
            raise InputError("There is no such page.", field="page")
        check(state)
        who, now = acting(), self._clock.now()
        view = SavedView("", page, self._named(name, state.dialog_key), shared, True, who.display_name, now)
        event = self._events.prepare("ViewSaved", {}, collection="desk_views")
        answer = self._store.save(str(uuid.uuid4()), who.principal_id, who.display_name, view, state, AT_ONCE, event)
        if "refused" in answer:
            raise ConflictError(f"You keep {AT_ONCE} views already.", hint="Delete one first.")
        self._events.announce(event)
        return replace(view, id=str(answer["id"])), bool(answer["replaced"])

    def rename(self, id: str, name: str) -> None:
        """For its owner; of a shared one for an administrator too. Errors: as `save`, NotFound, ConflictError."""
        permit("save_view")
        words = self._named(name, None)
        event = self._events.prepare("ViewSaved", {}, collection="desk_views")
        self._done(self._store.rename(id, words, at=self._clock.now(), event=event, **self._who(id)))
        self._events.announce(event)

    def drop(self, id: str) -> None:
        """For its owner; of a shared one for an administrator too. Errors: Forbidden, NotFound, DatabaseError."""
        permit("save_view")
        event = self._events.prepare("ViewDropped", {}, collection="desk_views")
        self._done(self._store.drop(id, at=self._clock.now(), event=event, **self._who(id)))
        self._events.announce(event)

    def _named(self, name: str, dialog_key: str | None) -> str:
        """The name on one line, masked: the team reads it, and the log keeps it. Errors: InputError."""
        words = " ".join("".join(c if c.isprintable() else " " for c in name).split())
        if not words or len(words) > NAME_LIMIT:
            raise InputError(f"A view has a name of 1 to {NAME_LIMIT} characters.", field="name")
        return self._people.mask(dialog_key).text(words)[:NAME_LIMIT]

    def _who(self, id: str) -> dict[str, Any]:
        if not _is_id(id):
            _refuse("missing")
        who = acting()
        return {"principal": who.principal_id, "admin": "admin" in who.roles}

    def _done(self, answer: Mapping[str, Any]) -> None:
        if "refused" in answer:
            _refuse(str(answer["refused"]))


def check(state: ViewState) -> None:
    """Plain values under plain names, 32 kB at most. Errors: InputError, TooLarge."""
    for group in (state.address, state.plain, state.texts):
        for key, value in group.items():
            if not _KEY.fullmatch(key) or not _plain(value):
                raise InputError("A view keeps numbers, words, days and lists of them.", field="state")
    if not all(isinstance(words, str) for words in state.texts.values()):
        raise InputError("What somebody typed is a text.", field="state")
    if len(json.dumps(state.body(), ensure_ascii=False, allow_nan=False).encode()) > STATE_LIMIT:
        raise TooLarge(f"A view keeps at most {STATE_LIMIT // 1024} kB.", field="state")


def _plain(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return all(one is None or isinstance(one, (str, int, float)) for one in value)
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return value is None or isinstance(value, (str, int))


def _refuse(why: str) -> NoReturn:
    if why == "not_yours":
        raise Forbidden("This view is somebody else's.", hint="Its owner or an administrator may change it.")
    if why == "name_taken":
        raise ConflictError("Another view of this page has this name.", hint="Take another name.")
    raise NotFound(GONE, hint=WHY_GONE)


def _is_id(id: str) -> bool:
    try:
        return str(uuid.UUID(id)) == id.lower()
    except ValueError:
        return False
