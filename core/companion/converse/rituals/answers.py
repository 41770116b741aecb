"""What a person gave in a step -> the arguments of its tool. Pure. Source: spec/companion.md, RI-4."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from core.companion.act.toolbox import dialogs_of
from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.converse.rituals.ritual import Run
from core.companion.converse.rituals.step import MOODS, Step
from core.errors import InputError

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)")
TAKEN_MOST = 50  # ids that are kept for a later step


def asked(step: Step, tool: ModuleTool, known: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters that a person fills in, in the order of the tool; `known`: what was taken from earlier steps."""
    names = {*step.ask, *(name for name in step.take if name not in known)}
    return tuple(p for p in tool.parameters if p.name in names)


def arguments(step: Step, tool: ModuleTool, known: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of the call; `validate` still sees them. Errors: InputError naming the field; then nothing runs."""
    params = {**step.base, **known}
    for p in asked(step, tool, known):
        value = given.get(p.name)
        if isinstance(value, str):
            value = value.strip()
        if step.type == "number_input" and p.name == step.config["param"]:
            value = number(step, value)
        elif step.type == "mood_picker" and p.name == step.config["param"] and not _is_mood(value):
            raise InputError("Choose 1 to 5.", field=p.name)
        if value in (None, "", []):
            if p.required or p.name == step.config.get("param"):
                raise InputError("This is empty: nothing was run.", field=p.name)
            continue
        params[p.name] = value
    return params


def number(step: Step, value: Any) -> float | int:
    """Within the limits of the step; the default for an empty one. Errors: InputError."""
    name = str(step.config["param"])
    if value in (None, ""):
        if "default" not in step.config:
            raise InputError("This is empty and has no default: nothing was run.", field=name)
        value = step.config["default"]
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise InputError("This is no number: nothing was run.", field=name)
        value = float(value.replace(",", "."))
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e15:
        raise InputError("This is no number: nothing was run.", field=name)
    unit = f" {step.config['unit']}" if "unit" in step.config else ""
    if "min" in step.config and value < step.config["min"]:
        raise InputError(f"The least is {step.config['min']:g}{unit}: nothing was run.", field=name)
    if "max" in step.config and value > step.config["max"]:
        raise InputError(f"The most is {step.config['max']:g}{unit}: nothing was run.", field=name)
    return int(value) if value == int(value) else value


def known_from(step: Step, pos: int, steps: Sequence[Step], run: Run, told: Mapping[str, Any]) -> dict[str, Any]:
    """What earlier steps of the run know of the parameters that this one takes. `told`: "tool.field" -> value that this
    tab alone remembers, such as the words of a query."""
    found: dict[str, Any] = {}
    for name, source in step.take.items():
        tool, _, field = source.partition(".")
        for before in range(pos - 1, -1, -1):
            taken = run.state(before).taken
            if steps[before].tool == tool and field in taken:
                found[name] = taken[field]
                break
        else:
            if told.get(source) not in (None, ""):
                found[name] = told[source]
    return found


def taken_of(
    tool: ModuleTool, steps: Sequence[Step], pos: int, params: Mapping[str, Any], result: ToolResult
) -> dict[str, Any]:
    """Of a result, and of what was given for it, what later steps take: ids, counts and the dialog key, no word."""
    wanted = {
        source.partition(".")[2]
        for step in steps[pos + 1 :]
        for source in step.take.values()
        if source.partition(".")[0] == tool.name
    }
    facts = result.llm_data
    rows = facts if isinstance(facts, (list, tuple)) else facts.get("hits") if isinstance(facts, Mapping) else None
    found: dict[str, Any] = {}
    for field in wanted:
        if field == "dialog_key":
            value: Any = next(iter(dialogs_of(tool, params)), None)
        elif field == "ids" and isinstance(rows, (list, tuple)):
            value = [row["id"] for row in rows if isinstance(row, Mapping) and _is_id(row.get("id"))][:TAKEN_MOST]
        else:
            value = facts.get(field) if isinstance(facts, Mapping) else None
            if not (_is_id(value) or (isinstance(value, (int, float)) and not isinstance(value, bool))):
                value = None
        if value is not None:
            found[field] = value
    return found


def length_of(step: Step, params: Mapping[str, Any]) -> int | None:
    """Of the text that was typed."""
    value = params.get(step.config["param"]) if step.type == "text_input" else None
    return len(value) if isinstance(value, str) else None


def _is_mood(value: Any) -> bool:
    return not isinstance(value, bool) and value in MOODS


def _is_id(value: Any) -> bool:
    if not isinstance(value, str) or len(value) != 36:
        return False
    try:
        uuid.UUID(value)
    except ValueError:
        return False
    return True
