"""Between what is stored of people and who looks at it: masked, until somebody who may says why, on record."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TypeVar

from core.access import acting, may, permit, unmasked_reason
from core.access.masking import Mask
from core.clock import Clock
from core.errors import InputError
from core.events.emitter import Events
from core.services.covering import covered, dialogs_of
from core.services.known import KnownPeople

T = TypeVar("T")
LASTS = timedelta(minutes=15)
REASON = (3, 200)  # characters
KNOWN = 20_000  # unmasked answers of today that need no second record


@dataclass(frozen=True)
class View:
    """What somebody looks at: a page, and what of it. `dialog_key` None: not one dialog alone. `record`: the one that
    the page shows, of several."""

    page: str
    dialog_key: str | None = None
    record: str | None = None


@dataclass(frozen=True)
class Reveal:
    """One person sees one view unmasked."""

    view: View
    principal: str
    until: datetime


class Veil:
    """Thread-safe; one per process."""

    def __init__(self, people: KnownPeople, events: Events, clock: Clock) -> None:
        self.people = people
        self._events = events
        self._clock = clock
        self._lock = threading.Lock()
        self._given: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def open(self, view: View, reason: str) -> Reveal:
        """Lift it for the one who acts. The record of it is in the database before anything is shown.

        Errors: Forbidden, InputError naming `reason`, DatabaseError; then nothing is lifted.
        """
        permit("reveal")
        words = " ".join("".join(c if c.isprintable() else " " for c in reason).split())
        if not REASON[0] <= len(words) <= REASON[1]:
            raise InputError(f"A reason has {REASON[0]} to {REASON[1]} characters.", field="reason")
        facts = {"page": view.page, "reason": self.people.mask(view.dialog_key).text(words), **_what(view)}
        event = self._events.prepare("PersonalDataRevealed", facts, record_id=view.dialog_key or view.record)
        self._events.store.append([event.row()])
        self._events.announce(event)
        return Reveal(view, acting().principal_id, self._clock.now() + LASTS)

    def holds(self, reveal: Reveal | None, view: View) -> bool:
        """Whether the reveal is one of this view, of the one who acts, not yet over, and still allowed."""
        if reveal is None or reveal.view != view or not may("reveal"):
            return False
        return reveal.principal == acting().principal_id and self._clock.now() < reveal.until

    def opened(self, dialog_key: str) -> None:
        """Note that somebody looked into a dialog."""
        self._events.emit("DialogOpened", {"dialog_key": dialog_key}, record_id=dialog_key)

    def exported(self, view: View, what: str, rows: int, *, revealed: bool) -> None:
        """Note that somebody took a file away. Errors: Forbidden."""
        permit("export")
        facts = {"page": view.page, "what": what, "rows": rows, "revealed": revealed, **_what(view)}
        self._events.emit("DataExported", facts, record_id=view.dialog_key or view.record)

    def text(self, text: str, dialog_key: str | None = None) -> str:
        """A text as it is shown masked. Errors: DatabaseError."""
        return self.people.mask(dialog_key).text(text)

    def cover(self, value: T, dialog_key: str | None = None, *, but: str | None = None) -> T:
        """The same records with their texts and payloads masked, each by the people of its own dialog.

        `dialog_key`: of what names no dialog itself. `but`: the dialog that stays as it is. Errors: DatabaseError.
        """
        masks: dict[str, Mask | None] = {**self.people.masks(set(dialogs_of(value, dialog_key)))}
        if but is not None:
            masks[but] = None
        found: T = covered(value, dialog_key, masks)
        return found

    def answer(self, value: T, dialog_key: str | None = None) -> T:
        """What an API call is answered with: as it is stored where the call may see that, once that is on record.

        Errors: DatabaseError.
        """
        reason = unmasked_reason()
        if reason is None:
            return self.cover(value, dialog_key)
        self._record(reason, sorted(set(dialogs_of(value, dialog_key))))
        return value

    def _record(self, reason: str, keys: list[str]) -> None:
        """Whose texts a program is given: once a day for each program and dialog, since one asks with every prompt."""
        who, today = acting().principal_id, self._clock.now().date().isoformat()
        with self._lock:
            new = [key for key in keys if (today, who, key) not in self._given]
        if not new:
            return
        masks = self.people.masks(new)
        events = [
            self._events.prepare(
                "PersonalDataRevealed",
                {"page": "api", "reason": masks[key].text(reason), "dialog_key": key},
                record_id=key,
            )
            for key in new
        ]
        self._events.store.append([event.row() for event in events])
        with self._lock:
            self._given.update(dict.fromkeys((today, who, key) for key in new))
            while len(self._given) > KNOWN:
                self._given.popitem(last=False)
        for event in events:
            self._events.announce(event)


def _what(view: View) -> dict[str, str]:
    named = {"dialog_key": view.dialog_key, "record": view.record}
    return {name: value for name, value in named.items() if value}
