"""What is asked of a search, and how the body of `POST /memory/search` becomes that.

Source: spec/memory.md section 5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from core.errors import InputError
from core.memory.identity import resolve_identity
from core.memory.notices import Findings
from core.memory.payload import normalise
from core.memory.places import json_argument, request_text
from core.memory.query import build_query
from core.memory.sources import LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN, SOURCES, ComposeMode
from core.memory.text import is_blank, is_given, storable

QUERY_LIMIT = 20_000
COMPOSE_MODES: tuple[ComposeMode, ...] = get_args(ComposeMode)


@dataclass(frozen=True)
class SearchRequest:
    """One query over one dialog. `weights` None means the active ones; a mapping replaces them, absent sources count 0.

    `payload` is the request body whose chunks a lexical fallback searches; None where it brought none. Where no limit
    was asked for (`limit_given` false), that of the active profile counts.
    """

    dialog_key: str
    query: str
    client_id: str | None = None
    favorite_id: str | None = None
    compose_mode: str = "both"
    limit: int = LIMIT_DEFAULT
    weights: Mapping[str, float] | None = None
    request_id: str | None = None
    explain: bool = False
    allow_fallback: bool = False
    payload: Mapping[str, Any] | None = None
    limit_given: bool = True


@dataclass(frozen=True)
class AcrossRequest:
    """One query over every dialog, or over all but `exclude_dialog`."""

    query: str
    limit: int = LIMIT_MAX
    weights: Mapping[str, float] | None = None
    exclude_dialog: str | None = None


def parse_search(body: Mapping[str, Any]) -> SearchRequest:
    """A request body as a search; without a query one is built from its payload.

    Errors: InputError naming the field (`query` where there is neither query nor payload), MissingIdentity.
    """
    payload = json_argument(body, "conversationJson")
    profile = json_argument(body, "profileJson")
    has_payload = is_given(payload) or is_given(profile)
    identity = resolve_identity(body, payload, Findings())
    return SearchRequest(
        dialog_key=identity.dialog_key,
        query=_query(body, has_payload),
        client_id=identity.ru_id,
        favorite_id=identity.favorite_id,
        compose_mode=_compose_mode(body),
        limit=parse_limit(body.get("limit")),
        weights=parse_weights(body.get("sourceWeights")),
        request_id=request_text(body, "requestId"),
        explain=_switch(body, "explain"),
        allow_fallback=_switch(body, "allowFallback"),
        payload=body if has_payload else None,
        limit_given=body.get("limit") is not None,
    )


def parse_limit(value: Any) -> int:
    """A limit within 1..24, clamped; the default when absent. Errors: InputError for what is no number."""
    if value is None:
        return LIMIT_DEFAULT
    number = _number(value)
    if number is None or math.isnan(number):
        raise InputError("limit is not a number.", hint=f"Send {LIMIT_MIN} to {LIMIT_MAX}.", field="limit")
    return int(max(LIMIT_MIN, min(number, LIMIT_MAX)))


def parse_weights(value: Any) -> dict[str, float] | None:
    """`sourceWeights` as finite numbers by source; None where absent. Errors: InputError naming the field."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise InputError("sourceWeights is not an object.", hint='Send {"note": 0.18, ...}.', field="sourceWeights")
    weights: dict[str, float] = {}
    for source, given in value.items():
        if source not in SOURCES:
            raise InputError(
                "sourceWeights names an unknown source.", hint=f"Known: {', '.join(SOURCES)}.", field="sourceWeights"
            )
        number = 0.0 if given is None else _number(given)
        if number is None or not math.isfinite(number):
            raise InputError(f"sourceWeights.{source} is not a number.", field=f"sourceWeights.{source}")
        weights[source] = number
    return weights


def _query(body: Mapping[str, Any], has_payload: bool) -> str:
    value = body.get("query")
    if value is not None and not isinstance(value, str):
        raise InputError("query is not text.", field="query")
    query = storable(value or "").strip()
    if len(query) > QUERY_LIMIT:
        raise InputError(f"query is longer than {QUERY_LIMIT:,} characters.", field="query")
    if not is_blank(query):
        return query
    if not has_payload:
        raise InputError("Neither query nor payload was sent.", hint="Send query, or conversationJson.", field="query")
    query = build_query(normalise(body))
    if is_blank(query):
        raise InputError(
            "The payload holds no message or note to build a query from.", hint="Send query.", field="query"
        )
    return query


def _compose_mode(body: Mapping[str, Any]) -> str:
    mode = request_text(body, "composeMode") or "both"
    if mode not in COMPOSE_MODES:
        raise InputError(
            "composeMode is unknown.", hint=f"Send one of {', '.join(COMPOSE_MODES)}.", field="composeMode"
        )
    return mode


def _switch(body: Mapping[str, Any], name: str) -> bool:
    value = body.get(name)
    if value is not None and not isinstance(value, bool):
        raise InputError(f"{name} is neither true nor false.", field=name)
    return bool(value)


def _number(value: Any) -> float | None:
    """A number, or text that is one; None for anything else. Integers too large for a double become infinite."""
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if isinstance(value, int) and value > 0 else -math.inf
    except ValueError:
        return None
