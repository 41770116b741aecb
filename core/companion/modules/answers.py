"""How tools of the operator's own day answer: a refusal of the records is a failure in words, not an exception."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from core.companion.contract import ToolResult
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import normalize_actor

Params = Mapping[str, Any]
Tool = Callable[[Params], ToolResult]


def done(message: str, data: Any = None, llm_data: Any = None) -> ToolResult:
    return ToolResult(True, message, data, llm_data)


def honest(act: Tool) -> Tool:
    """Unknown id, nothing to do, unusable value: success is false and the message says which."""

    def run(given: Params) -> ToolResult:
        try:
            return act(given)
        except (InputError, NotFound, ConflictError) as refusal:
            return ToolResult(False, refusal.what)

    return run


def seen(look: Callable[[Params], Any]) -> Callable[[Params], Any]:
    """What a tool would change, or None where that is not there (any more)."""

    def target(given: Params) -> Any:
        try:
            return look(given)
        except NotFound:
            return None

    return target


def refusal(why: Callable[[Params], str | None]) -> Callable[[Params], str | None]:
    """Why a tool cannot be asked for: what `why` says, or that its record is not there."""

    def refuse(given: Params) -> str | None:
        try:
            return why(given)
        except NotFound as missing:
            return missing.what

    return refuse


def alone(event: Params, *but: str) -> None:
    """Errors: ConflictError where somebody else changed the event's record since, in other ways than `but`."""
    if set(event.get("since", ())) - set(but):
        raise ConflictError("Somebody else changed this since.")


def part(row: Params, *names: str) -> dict[str, Any]:
    return {name: row[name] for name in names}


def set_by(row: Params, field: str, actor: Any) -> bool:
    """Whether a field of a record still is as this actor of an event set it, within the same iteration."""
    then, now = normalize_actor(actor), normalize_actor({"rationale": "-", **row["field_actors"].get(field, {})})
    return (then.principal_id, then.mission_id, then.iteration_id) == (
        now.principal_id,
        now.mission_id,
        now.iteration_id,
    )
