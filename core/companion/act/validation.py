"""The arguments of a tool as they came -> as the tool gets them. Pure; the caller's own mapping stays as it is.

Models write numbers as text and mix up names; what is not clearly meant is refused by name, never guessed.
Source: spec/companion.md, TO-6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from core.companion.contract import ModuleTool, Parameter
from core.errors import InputError

YES, NO = frozenset({"true", "1", "yes"}), frozenset({"false", "0", "no"})
TEXT_LIMIT = 10_000
JSON_LIMIT = 100_000
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?")
_WHOLE_LIMIT = 2**53


def validate(tool: ModuleTool, params: Any) -> dict[str, Any]:
    """Coerced arguments, defaults filled in, optional ones that are absent or null left out.

    Errors: InputError naming the parameter and never quoting what was given.
    """
    if not isinstance(params, Mapping):
        raise InputError("The arguments are no object.", field="params")
    known = {p.name: p for p in tool.parameters}
    foreign = sorted(str(name)[:60] for name in params if name not in known)
    if foreign:
        names = ", ".join(known) or "none"
        raise InputError(f"{tool.name} takes no {foreign[0]}.", hint=f"Its parameters: {names}.", field=foreign[0])
    found: dict[str, Any] = {}
    for p in tool.parameters:
        value = params.get(p.name)
        if value is None:
            if p.required:
                raise InputError(f"{p.name} is missing.", hint=p.description, field=p.name)
            if p.default is not None:
                found[p.name] = deepcopy(p.default)
            continue
        found[p.name] = _checked(p, _COERCE[p.type](p, value))
    return found


def _checked(p: Parameter, value: Any) -> Any:
    if isinstance(value, str) and value in p.same_as:
        value = p.same_as[value]
    if p.enum and str(value) not in p.enum:
        raise InputError(f"{p.name} is none of the values known.", hint=f"Known: {', '.join(p.enum)}.", field=p.name)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if p.minimum is not None and value < p.minimum:
            raise InputError(f"{p.name} is less than {p.minimum:g}.", field=p.name)
        if p.maximum is not None and value > p.maximum:
            raise InputError(f"{p.name} is more than {p.maximum:g}.", field=p.name)
    if isinstance(value, (str, list)) and p.max_length is not None and len(value) > p.max_length:
        raise InputError(f"{p.name} is longer than {p.max_length}.", field=p.name)
    if isinstance(value, str) and p.pattern is not None and not re.fullmatch(p.pattern, value):
        raise InputError(f"{p.name} is not in its form.", hint=p.description, field=p.name)
    return value


def _string(p: Parameter, value: Any) -> str:
    # An id or one of a list of words may come as a number; a flag or a structure as text is a mix-up.
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InputError(f"{p.name} is no text.", field=p.name)
    if p.required and not value.strip():
        raise InputError(f"{p.name} is empty.", hint=p.description, field=p.name)
    if len(value) > TEXT_LIMIT:
        raise InputError(f"{p.name} is longer than {TEXT_LIMIT:,} characters.", field=p.name)
    if "\x00" in value or any("\ud800" <= c <= "\udfff" for c in value):
        raise InputError(f"{p.name} holds characters that cannot be stored.", field=p.name)
    return value


def _number(p: Parameter, value: Any) -> float | int:
    found: float | int | None = None
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        found = value
    elif isinstance(value, str) and len(value) <= 40 and value.isascii() and _NUMBER.fullmatch(value.strip()):
        text = value.strip()
        found = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    if found is None or not abs(found) <= _WHOLE_LIMIT:  # also false for NaN
        raise InputError(f"{p.name} is no number.", field=p.name)
    return found


def _integer(p: Parameter, value: Any) -> int:
    found = _number(p, value)
    if found != int(found):
        raise InputError(f"{p.name} is no whole number.", field=p.name)
    return int(found)


def _boolean(p: Parameter, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower() if isinstance(value, (str, int)) else ""
    if word in YES or word in NO:
        return word in YES
    raise InputError(f"{p.name} is neither true nor false.", field=p.name)


def _array(p: Parameter, value: Any) -> list[Any]:
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{p.name} is no list.", field=p.name)
    return list(_plain(p, list(value)))


def _object(p: Parameter, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"{p.name} is no object.", field=p.name)
    return dict(_plain(p, dict(value)))


def _plain(p: Parameter, value: Any) -> Any:
    """A copy of plain JSON, which shares nothing with the caller's."""
    try:
        text = json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError(f"{p.name} holds what is no JSON.", field=p.name) from None
    if len(text) > JSON_LIMIT:
        raise InputError(f"{p.name} is too large.", field=p.name)
    return json.loads(text)


_COERCE: Mapping[str, Callable[[Parameter, Any], Any]] = {
    "string": _string,
    "number": _number,
    "integer": _integer,
    "boolean": _boolean,
    "array": _array,
    "object": _object,
}
