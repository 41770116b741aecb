"""What is wrong with a step, by the name of its field; and its clean form. Pure: tools are looked up in the toolbox
that is given. Source: spec/companion.md, RI-6.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.companion.act.validation import validate
from core.companion.contract import ModuleTool, Parameter
from core.companion.converse.rituals.step import (
    FIELDS,
    ITEMS_MOST,
    LABEL_LIMIT,
    MOODS,
    SOURCES,
    STEPS_MOST,
    TYPES,
    WORDS_LIMIT,
    Find,
    Step,
    StepType,
)
from core.errors import InputError

_TAKEN = re.compile(r"[a-z_]+\.[a-z_]+")


def check_steps(given: Sequence[Any], find: Find, *, most: int = STEPS_MOST) -> tuple[Step, ...]:
    """Every step in its clean form. Errors: InputError; `field` is `steps.<number from 1>.<name>`."""
    if not given:
        raise InputError("A routine has at least one step.", field="steps")
    if len(given) > most:
        raise InputError(f"A routine has at most {most} steps.", field="steps")
    found: list[Step] = []
    for number, one in enumerate(given, start=1):
        try:
            found.append(check_step(one, find, {step.tool for step in found if step.tool}))
        except InputError as fault:
            where = f"steps.{number}" + (f".{fault.field}" if fault.field else "")
            raise InputError(fault.what, hint=fault.hint, field=where) from None
    return tuple(found)


def check_step(given: Any, find: Find, before: Collection[str] = ()) -> Step:
    """One step; `before` are the tools of the steps before it. Errors: InputError naming the field."""
    if isinstance(given, Step):
        given = given.as_json()
    if not isinstance(given, Mapping) or not set(given) <= {"type", "label", "config"}:
        raise InputError("A step has a type, a label and a config, and nothing else.", field="step")
    kind = given.get("type")
    if kind not in TYPES:
        raise InputError("This is no kind of step.", hint=f"Known: {', '.join(TYPES)}.", field="type")
    config = given.get("config")
    if not isinstance(config, Mapping):
        raise InputError("The config is no object.", field="config")
    foreign = sorted(str(name)[:60] for name in config if name not in FIELDS[kind])
    if foreign:
        raise InputError(f"A step {kind} has no {foreign[0]}.", field=foreign[0])
    kept = {name: value for name, value in config.items() if value not in (None, "", {}, [], ())}
    return Step(kind, _text(given.get("label"), "label", LABEL_LIMIT), _CHECK[kind](kept, find, before))


def _tool_call(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    tool = _known(config.get("tool"), find)
    ask = config.get("ask", [])
    if not isinstance(ask, (list, tuple)) or any(_parameter(tool, name, "ask") is None for name in ask):
        raise InputError("What is asked for is a list of parameters.", field="ask")
    ask = list(dict.fromkeys(ask))
    params, take = _arguments(tool, config, "params", set(ask), before)
    return _filled(tool=tool.name, params=params, ask=ask, take=take)


def _input(
    config: Mapping[str, Any], find: Find, before: Collection[str]
) -> tuple[ModuleTool, Parameter, dict[str, Any]]:
    tool = _known(config.get("tool"), find)
    param = _parameter(tool, config.get("param"), "param")
    base, take = _arguments(tool, config, "base_params", {param.name}, before)
    return tool, param, _filled(tool=tool.name, param=param.name, base_params=base, take=take)


def _number_input(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    tool, param, kept = _input(config, find, before)
    if param.type not in ("number", "integer"):
        raise InputError(f"{param.name} is no number.", field="param")
    limits = {name: _number(config[name], name) for name in ("min", "max", "default") if name in config}
    for name, value in limits.items():
        _accepts(tool, param, value, name)
    low, high = limits.get("min", -math.inf), limits.get("max", math.inf)
    if low > high:
        raise InputError("The least is more than the most.", field="min")
    if "default" in limits and not low <= limits["default"] <= high:
        raise InputError("The default is not between the least and the most.", field="default")
    unit = {"unit": _text(config["unit"], "unit", 20)} if "unit" in config else {}
    return {**kept, **unit, **limits}


def _text_input(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    _, param, kept = _input(config, find, before)
    if param.type != "string" or param.enum:
        raise InputError(f"{param.name} is no free text.", field="param")
    if "placeholder" in config:
        kept["placeholder"] = _text(config["placeholder"], "placeholder", WORDS_LIMIT)
    return kept


def _mood_picker(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    tool, param, kept = _input(config, find, before)
    for mood in MOODS:
        _accepts(tool, param, mood, "param")
    return kept


def _info_display(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    if config.get("source") not in SOURCES:
        raise InputError("There is no such source.", hint=f"Known: {', '.join(SOURCES)}.", field="source")
    return {"source": config["source"]}


def _checklist(config: Mapping[str, Any], find: Find, before: Collection[str]) -> dict[str, Any]:
    items = config.get("items")
    if not isinstance(items, (list, tuple)) or not items or len(items) > ITEMS_MOST:
        raise InputError(f"A checklist has 1 to {ITEMS_MOST} items.", field="items")
    kept = []
    for item in items:
        if not isinstance(item, Mapping) or not set(item) <= {"label", "tool", "params"}:
            raise InputError("An item has a label, and may have a tool and params.", field="items")
        one: dict[str, Any] = {"label": _text(item.get("label"), "items", LABEL_LIMIT)}
        if item.get("tool"):
            tool = _known(item["tool"], find)
            params, _ = _arguments(tool, item, "params", set(), before)
            one |= _filled(tool=tool.name, params=params)
        elif item.get("params"):
            raise InputError("An item without a tool has no params.", field="items")
        kept.append(one)
    return {"items": kept}


_CHECK: Mapping[StepType, Callable[[Mapping[str, Any], Find, Collection[str]], dict[str, Any]]] = {
    "tool_call": _tool_call,
    "number_input": _number_input,
    "text_input": _text_input,
    "mood_picker": _mood_picker,
    "info_display": _info_display,
    "checklist": _checklist,
}


def _arguments(
    tool: ModuleTool, config: Mapping[str, Any], name: str, given: set[str], before: Collection[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """The fixed arguments as the tool takes them, and what is taken from earlier steps; nothing required is missing."""
    fixed = config.get(name, {})
    if not isinstance(fixed, Mapping):
        raise InputError("These arguments are no object.", field=name)
    take = config.get("take", {})
    if not isinstance(take, Mapping):
        raise InputError("What is taken is no object.", field="take")
    for param, source in take.items():
        _parameter(tool, param, "take")
        if not isinstance(source, str) or not _TAKEN.fullmatch(source):
            raise InputError("What is taken is written as tool.field.", field="take")
        if source.partition(".")[0] not in before:
            raise InputError("What is taken has to come from a tool of an earlier step.", field="take")
    later = {*given, *take}
    twice = sorted(later & set(fixed))
    if twice:
        raise InputError(f"{twice[0]} is fixed and asked for at once.", field=name)
    for param in fixed:
        _parameter(tool, param, name)
    missing = [p.name for p in tool.parameters if p.required and p.name not in later and fixed.get(p.name) is None]
    if missing:
        raise InputError(f"{missing[0]} is missing.", hint=f"{tool.name} needs it.", field=name)
    part = replace(tool, parameters=tuple(replace(p, default=None) for p in tool.parameters if p.name in fixed))
    try:
        return validate(part, fixed), dict(take)
    except InputError as fault:
        raise InputError(fault.what, hint=fault.hint, field=name) from None


def _known(name: Any, find: Find) -> ModuleTool:
    tool = find(name) if isinstance(name, str) else None
    if tool is None:
        raise InputError("There is no such tool.", field="tool")
    return tool


def _parameter(tool: ModuleTool, name: Any, field: str) -> Parameter:
    found = next((p for p in tool.parameters if p.name == name), None)
    if found is None:
        raise InputError(
            f"{tool.name} has no such parameter.",
            hint=f"It has: {', '.join(p.name for p in tool.parameters) or 'none'}.",
            field=field,
        )
    return found


def _accepts(tool: ModuleTool, param: Parameter, value: Any, field: str) -> None:
    try:
        validate(replace(tool, parameters=(param,)), {param.name: value})
    except InputError as fault:
        raise InputError(fault.what, hint=fault.hint, field=field) from None


def _number(value: Any, field: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise InputError("This is no number.", field=field)
    return value


def _text(value: Any, field: str, limit: int) -> str:
    text = " ".join(value.split()) if isinstance(value, str) else ""
    if not text or len(text) > limit or not text.isprintable():
        raise InputError(f"This has 1 to {limit} characters, on one line.", field=field)
    return text


def _filled(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value not in ({}, [], None)}
