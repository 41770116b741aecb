"""Records with what is personal in them masked: which fields that is, and the walk through whatever holds them. Pure.

Texts are masked here. Ids of persons stay in the objects, since the next question needs them; whoever draws one draws
its alias.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

from core.access.masking import Mask
from core.snapshots.diff import EntityChange
from core.snapshots.fields import MISSING, FieldChange

# Fields by their name, in the records of these rooms: texts of people, and payloads that hold some.
TEXTS = frozenset(
    ("text", "newer_text", "query", "prompt_block", "note", "why", "pin_reason", "initiator", "url", "source_id")
)
PAYLOADS = frozenset({"payload", "before", "after", "metadata"})
IDS = frozenset({"ru_id", "tu_id", "client_id", "woman_id", "favorite_id"})
ROOMS = (
    *("core.memory.", "core.snapshots.", "core.retrievals.", "core.tuning.", "core.services.", "core.usage."),
    "core.photos.",
)
# By these an entity is found again: drawn masked, kept as they are.
_IDENTITY = ("core.snapshots.", {"source_id"})
NOBODY = Mask()


def dialogs_of(value: Any, dialog_key: str | None = None) -> Iterator[str]:
    """The keys of all dialogs whose people a value may name."""
    if is_dataclass(value) and not isinstance(value, type):
        if key := _whose(value, dialog_key):
            yield key
        for field in fields(value):
            inside = getattr(value, field.name)
            if not _is_payload(field.name, inside):
                yield from dialogs_of(inside, _whose(value, dialog_key))
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from dialogs_of(one, dialog_key)
    elif isinstance(value, Mapping):
        if key := _named(value, dialog_key):
            yield key
        for one in value.values():
            yield from dialogs_of(one, _named(value, dialog_key))
    elif dialog_key:
        yield dialog_key


def covered(value: Any, dialog_key: str | None, masks: Mapping[str, Mask | None]) -> Any:
    """The same value, masked, each record by the people of its own dialog; None for a mask leaves a dialog as it is."""
    if is_dataclass(value) and not isinstance(value, type):
        return _record(value, _whose(value, dialog_key), masks)
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return tuple(covered(one, dialog_key, masks) for one in value)
    if isinstance(value, list):
        return [covered(one, dialog_key, masks) for one in value]
    if type(value) is dict:
        key = _named(value, dialog_key)
        mask = _mask(key, masks)
        return {
            name: mask.text(one) if mask and name in TEXTS and isinstance(one, str) else covered(one, key, masks)
            for name, one in value.items()
        }
    return value


def _record(value: Any, dialog_key: str | None, masks: Mapping[str, Mask | None]) -> Any:
    mask = _mask(dialog_key, masks)
    if mask is None or not type(value).__module__.startswith(ROOMS):
        return _inside(value, dialog_key, masks)
    if isinstance(value, FieldChange):
        return _field(value, mask)
    kept = _IDENTITY[1] if type(value).__module__.startswith(_IDENTITY[0]) else set()
    changed = {}
    for field in fields(value):
        before = getattr(value, field.name)
        if field.name in TEXTS and isinstance(before, str):
            after: Any = before if field.name in kept else mask.text(before)
        elif _is_payload(field.name, before):
            after = mask.value(before)
        else:
            after = covered(before, dialog_key, masks)
        if after is not before and field.init:
            changed[field.name] = after
    found = replace(value, **changed) if changed else value
    if isinstance(value, EntityChange):
        # What differs is worked out from what is stored: masked, two names are alike.
        object.__setattr__(found, "fields", tuple(_field(change, mask) for change in value.fields))
    return found


def _inside(value: Any, dialog_key: str | None, masks: Mapping[str, Mask | None]) -> Any:
    changed = {}
    for field in fields(value):
        before = getattr(value, field.name)
        after = covered(before, dialog_key, masks)
        if after is not before and field.init:
            changed[field.name] = after
    return replace(value, **changed) if changed else value


def _is_payload(name: str, value: Any) -> bool:
    """JSON as it came; records under such a name stand in a tuple."""
    return name in PAYLOADS and not isinstance(value, tuple) and not is_dataclass(value)


def _field(change: FieldChange, mask: Mask) -> FieldChange:
    """Under a name such as `url` the whole value is personal."""
    name = next((step for step in reversed(change.path) if isinstance(step, str)), "")
    sides = {side: getattr(change, side) for side in ("before", "after")}
    masked = {side: mask.value({name: value})[name] for side, value in sides.items() if value is not MISSING}
    return replace(change, **masked)


def _whose(record: Any, dialog_key: str | None) -> str | None:
    """The dialog of a record: its own, that of what it is about, or that of what holds it."""
    for one in (record, *(getattr(record, name, None) for name in ("request", "then", "now"))):
        if own := getattr(one, "dialog_key", None):
            return str(own)
    return dialog_key


def _named(found: Mapping[Any, Any], dialog_key: str | None) -> str | None:
    own = found.get("dialog_key") or found.get("dialogKey")
    return own if isinstance(own, str) and own else dialog_key


def _mask(dialog_key: str | None, masks: Mapping[str, Mask | None]) -> Mask | None:
    return masks.get(dialog_key, NOBODY) if dialog_key else NOBODY
