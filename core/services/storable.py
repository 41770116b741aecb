"""A JSON value as the database can hold it, and as JavaScript would have read it. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from core.errors import InputError
from core.memory.notices import UNSTORABLE, Findings
from core.memory.text import is_unstorable, storable

DEPTH_LIMIT = 100


def clean(value: Any, field: str, findings: Findings, depth: int = 0) -> Any:
    """The value as jsonb can hold it: no NUL, no half of a surrogate pair; what is no finite number is null, as in
    JavaScript. Errors: InputError for what is nested deeper than 100 levels."""
    if depth > DEPTH_LIMIT:
        raise InputError(f"{field} is nested deeper than {DEPTH_LIMIT} levels.", field=field)
    if isinstance(value, str):
        if is_unstorable(value):
            findings.add(field, "malformed", UNSTORABLE)
        return storable(value)
    if isinstance(value, Mapping):
        return {clean(str(k), field, findings): clean(v, field, findings, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [clean(item, field, findings, depth + 1) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool) and not _finite(value):
        findings.add(field, "malformed", "Numbers beyond what JSON's readers hold, stored as null: {n}.")
        return None
    return value


def _finite(value: float) -> bool:
    try:
        return math.isfinite(float(value))
    except OverflowError:
        return False
