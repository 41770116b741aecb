"""The front of the routines: made, changed, paused, archived, deleted and brought back, each with its event."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from core.access import require
from core.companion.converse.rituals.ritual import Origin, Ritual, Trigger
from core.companion.converse.rituals.step import Find
from core.companion.converse.rituals.steps import check_steps
from core.companion.converse.rituals.store import Change, RitualStore, RunPage
from core.companion.converse.rituals.templates import Template, offered
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import Actor
from core.events.emitter import Events

TITLE_LIMIT = 60
DESCRIPTION_LIMIT = 500
TRIGGERS = get_args(Trigger)
CHANGES = {
    "active": "resumed",
    "paused": "paused",
    "archived": "archived",
    "deleted": "deleted",
    "restored": "restored",
}


def checked(ritual: Ritual, find: Find) -> Ritual:
    """The routine in its clean form. Errors: InputError naming the field; of a step `steps.<number from 1>.<name>`."""
    title = " ".join(ritual.title.split())
    if not title or len(title) > TITLE_LIMIT or not title.isprintable():
        raise InputError(f"A title has 1 to {TITLE_LIMIT} characters.", field="title")
    description = " ".join((ritual.description or "").split()) or None
    if description and (len(description) > DESCRIPTION_LIMIT or not description.isprintable()):
        raise InputError(f"A description has at most {DESCRIPTION_LIMIT} characters.", field="description")
    if ritual.trigger not in TRIGGERS:
        raise InputError("A routine is for the morning, the evening or any time.", field="trigger")
    return replace(ritual, title=title, description=description, steps=check_steps(ritual.steps, find))


class Rituals:
    """Thread-safe; one per process."""

    def __init__(self, store: RitualStore, events: Events, find: Find) -> None:
        self.store = store
        self._events = events
        self._find = find

    def list(self) -> tuple[Ritual, ...]:
        """Active ones first, then paused, then archived. Errors: DatabaseError."""
        return self.store.list()

    def get(self, id: str) -> Ritual:
        """Errors: NotFound, DatabaseError."""
        found = self.store.list(str(uuid.UUID(id))) if _is_id(id) else ()
        if not found:
            raise NotFound("There is no such routine.", hint="It may have been deleted meanwhile.")
        return found[0]

    def runs(self, id: str | None = None, *, limit: int = 25, offset: int = 0) -> RunPage:
        """The log, newest first. Errors: DatabaseError."""
        return self.store.runs(id, limit=limit, offset=offset)

    @property
    def templates(self) -> tuple[Template, ...]:
        return offered(self._find)

    def check(self, ritual: Ritual) -> Ritual:
        """Errors: InputError naming the field."""
        return checked(ritual, self._find)

    def save(self, actor: Actor, ritual: Ritual) -> Change:
        """Make it (version 0) or change it, whose run under way is closed then; `same` for a form sent twice.

        Errors: Forbidden, InputError naming the field, NotFound, ConflictError (changed meanwhile), DatabaseError.
        """
        require(actor, "change_rituals")
        ritual = self.check(ritual)
        facts: dict[str, Any] = {"trigger": ritual.trigger, "template_id": ritual.template_id, "origin": ritual.origin}
        facts |= {"title": ritual.title, "steps": len(ritual.steps)}
        event = self._event(actor, ritual, "changed" if ritual.version else "created", **facts)
        change = self.store.save(ritual, event)
        if change.outcome == "missing":
            raise NotFound("This routine is not there any more.")
        if change.outcome == "stale":
            raise ConflictError(
                "Somebody changed this routine meanwhile: nothing was saved.", hint="Open it again and look."
            )
        return change

    def add(self, actor: Actor, template_id: str, *, id: str | None = None) -> Ritual:
        """A routine by its template. Errors: as `save`."""
        found = next((t for t in self.templates if t.id == template_id), None)
        if found is None:
            raise InputError("There is no such template.", field="template_id")
        ritual = Ritual(
            id or str(uuid.uuid4()), found.title, found.trigger, found.steps, found.description,
            template_id=found.id, origin="template",
        )  # fmt: skip
        self.save(actor, ritual)
        return self.get(ritual.id)

    def change_status(self, actor: Actor, ritual: Ritual, status: str) -> Change:
        """active, paused, archived, deleted or restored; `unchanged` where somebody was quicker.

        Errors: Forbidden, InputError, NotFound, DatabaseError.
        """
        require(actor, "change_rituals")
        if status not in CHANGES:
            raise InputError("A routine is active, paused, archived, deleted or restored.", field="status")
        titled = {"title": ritual.title} if status in ("deleted", "restored") else {}
        change = self.store.status(ritual.id, status, self._event(actor, ritual, CHANGES[status], **titled))
        if change.outcome == "missing":
            raise NotFound("This routine is not there any more.")
        return change

    def _event(self, actor: Actor, ritual: Ritual, change: str, **facts: Any) -> Any:
        payload = {"ritual_id": ritual.id, "change": change, **facts}
        return self._events.prepare(
            "RitualChanged", payload, actor=actor, record_id=ritual.id, collection="companion_rituals"
        )


def drafted(
    title: str, trigger: Trigger, steps: Sequence[Any], *, origin: Origin = "person", description: str | None = None
) -> Ritual:
    """A new routine that is not stored yet; its id makes a second press of "Save" the same one."""
    return Ritual(str(uuid.uuid4()), title, trigger, tuple(steps), description, origin=origin)


def explain(field: str | None) -> str:
    """The field of a fault in words: `steps.2.min` -> "Step 2, least"."""
    words: Mapping[str, str] = {
        "min": "least", "max": "most", "param": "parameter", "base_params": "fixed values", "params": "fixed values",
        "ask": "asked for", "take": "taken from earlier steps", "type": "kind",
    }  # fmt: skip
    if not field:
        return "Routine"
    if field.startswith("steps."):
        _, number, *rest = field.split(".")
        name = words.get(rest[0], rest[0].replace("_", " ")) if rest else ""
        return f"Step {number}" + (f", {name}" if name else "")
    return words.get(field, field.replace("_", " ")).capitalize()


def _is_id(text: str) -> bool:
    try:
        uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return False
    return True
