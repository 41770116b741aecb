"""Between what is stored of people and who looks at it: masked, until somebody who may says why and that is recorded.

Texts are masked here. Ids of persons stay in the objects, since the next question needs them; whoever draws one draws
its alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypeVar

from core.access import acting, may, permit
from core.access.masking import Mask
from core.clock import Clock
from core.errors import InputError
from core.events.emitter import Events
from core.services.known import KnownPeople
from core.snapshots.diff import EntityChange
from core.snapshots.fields import MISSING, FieldChange

T = TypeVar("T")
LASTS = timedelta(minutes=15)
REASON = (3, 200)  # characters
# Fields by their name, in the records of these rooms: texts of people, and payloads that hold some.
TEXTS = frozenset({"text", "newer_text", "query", "prompt_block", "note"})
ROOMS = ("core.memory.", "core.snapshots.", "core.retrievals.", "core.tuning.", "core.services.", "core.usage.")
PAYLOADS = frozenset({"payload", "before", "after"})


@dataclass(frozen=True)
class Reveal:
    """One person sees one view unmasked: this page, and this dialog of it (None: the page without one)."""

    page: str
    dialog_key: str | None
    principal: str
    until: datetime


class Veil:
    """Thread-safe; one per process."""

    def __init__(self, people: KnownPeople, events: Events, clock: Clock) -> None:
        self.people = people
        self._events = events
        self._clock = clock

    def open(self, page: str, dialog_key: str | None, reason: str) -> Reveal:
        """Lift it for the one who acts. The record of it is in the database before anything is shown.

        Errors: Forbidden, InputError naming `reason`, DatabaseError; then nothing is lifted.
        """
        permit("reveal")
        words = " ".join(reason.split())
        if not REASON[0] <= len(words) <= REASON[1]:
            raise InputError(f"A reason has {REASON[0]} to {REASON[1]} characters.", field="reason")
        facts = {"page": page, "dialog_key": dialog_key, "reason": self.people.mask(dialog_key).text(words)}
        event = self._events.prepare("PersonalDataRevealed", facts, record_id=dialog_key)
        self._events.store.append([event.row()])
        self._events.announce(event)
        return Reveal(page, dialog_key, acting().principal_id, self._clock.now() + LASTS)

    def holds(self, reveal: Reveal | None, page: str, dialog_key: str | None) -> bool:
        """Whether the reveal is one of this view, of the one who acts, not yet over, and still allowed."""
        if reveal is None or (reveal.page, reveal.dialog_key) != (page, dialog_key):
            return False
        mine = reveal.principal == acting().principal_id and may("reveal")
        return mine and self._clock.now() < reveal.until

    def opened(self, dialog_key: str) -> None:
        """Note that somebody looked into a dialog."""
        self._events.emit("DialogOpened", {"dialog_key": dialog_key}, record_id=dialog_key)

    def exported(self, page: str, what: str, rows: int, dialog_key: str | None, *, revealed: bool) -> None:
        """Note that somebody took a file away. Errors: Forbidden."""
        permit("export")
        facts = {"page": page, "what": what, "rows": rows, "dialog_key": dialog_key, "revealed": revealed}
        self._events.emit("DataExported", facts, record_id=dialog_key)

    def text(self, text: str, dialog_key: str | None = None) -> str:
        """A text as it is shown masked. Errors: DatabaseError."""
        return self.people.mask(dialog_key).text(text)

    def cover(self, value: T, dialog_key: str | None = None) -> T:
        """The same records with their texts and payloads masked, each by the people of its own dialog.

        `dialog_key`: of what names no dialog itself. Errors: DatabaseError.
        """
        masks = self.people.masks({key for key in _dialogs(value, dialog_key) if key})
        covered: T = _covered(value, dialog_key, masks)
        return covered


def _dialogs(value: Any, dialog_key: str | None) -> Iterator[str | None]:
    if is_dataclass(value) and not isinstance(value, type):
        dialog_key = getattr(value, "dialog_key", None) or dialog_key
        yield dialog_key
        for field in fields(value):
            if field.name not in PAYLOADS:
                yield from _dialogs(getattr(value, field.name), dialog_key)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _dialogs(one, dialog_key)
    elif isinstance(value, Mapping):
        for one in value.values():
            yield from _dialogs(one, dialog_key)


def _covered(value: Any, dialog_key: str | None, masks: Mapping[str, Mask]) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value, getattr(value, "dialog_key", None) or dialog_key, masks)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(_covered(one, dialog_key, masks) for one in value)
    if isinstance(value, list):
        return [_covered(one, dialog_key, masks) for one in value]
    if type(value) is dict:
        return {name: _covered(one, dialog_key, masks) for name, one in value.items()}
    return value


def _record(value: Any, dialog_key: str | None, masks: Mapping[str, Mask]) -> Any:
    mask = masks.get(dialog_key or "", ANYBODY)
    ours = type(value).__module__.startswith(ROOMS)
    changed = {}
    for field in fields(value):
        before = getattr(value, field.name)
        if ours and field.name in TEXTS and isinstance(before, str):
            after: Any = mask.text(before)
        elif ours and field.name in PAYLOADS:
            after = mask.value(before)
        else:
            after = _covered(before, dialog_key, masks)
        if after is not before and after != before and field.init:
            changed[field.name] = after
    covered = replace(value, **changed) if changed else value
    if isinstance(value, EntityChange):
        # What differs is worked out from what is stored: masked, two names are alike.
        object.__setattr__(covered, "fields", tuple(_field(change, mask) for change in value.fields))
    return covered


def _field(change: FieldChange, mask: Mask) -> FieldChange:
    """Under a name such as `url` the whole value is personal."""
    name = next((step for step in reversed(change.path) if isinstance(step, str)), "")
    sides = {side: getattr(change, side) for side in ("before", "after")}
    masked = {side: mask.value({name: value})[name] for side, value in sides.items() if value is not MISSING}
    return replace(change, **masked)


ANYBODY = Mask()
