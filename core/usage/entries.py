"""The body of `POST /usage` as rows of `token_usage_log`. Pure.

**The key of an entry.** Its id is made from the request's id and everything the entry says: provider, model, phase,
the four counts, `at` where it is given, and how many equal entries stand before it in the same body. So a body that is
sent again is written once, also after a lost answer and through the spool, while two equal calls in one body count
twice. Equal calls of one request that are sent in separate bodies look like a retry: they need their own `at`.
"""

from __future__ import annotations

import json
import re
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from core.errors import InputError, TooLarge
from core.tokens import estimate_tokens

UNKNOWN = "unknown"
PROVIDERS = ("gemini", "xai")
PHASES = ("photo", "context", "draft-batch", "evaluate", "repair", "embed", "generate")
# The row of a request that names no entries. Source: spec/memory.md section 7.
ESTIMATED = ("gemini", UNKNOWN, "generate")
ENTRY_LIMIT = 1000
COUNT_LIMIT = 2**31 - 1
NAME_LIMIT = 200
ID_LIMIT = 512

_NAMESPACE = uuid.UUID("5e0fdc0c-53a4-5d0e-9a55-6a0a4c1f7d42")
_UNSTORABLE = re.compile("[\x00-\x1f\x7f\ud800-\udfff]")
_EARLIEST_S, _MILLIS_FROM = 100_000_000, 100_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class UsageRow:
    """One call, as `desk_record_usage` takes it. `at` is always set: a row from the spool keeps the moment it came."""

    id: str
    at: datetime
    request_id: str
    dialog_key: str | None
    ru_id: str | None
    tu_id: str | None
    invite_type: str | None
    provider: str
    model: str
    phase: str
    prompt_tokens: int | None
    completion_tokens: int | None
    total_tokens: int | None
    cached_tokens: int | None = None

    def body(self) -> dict[str, Any]:
        return {**self.__dict__, "at": self.at.isoformat()}


@dataclass(frozen=True)
class ParsedUsage:
    """The rows of one request; `estimated` where it named no entries and the one row is a guess from its texts."""

    request_id: str
    dialog_key: str | None
    rows: tuple[UsageRow, ...]
    estimated: bool


def parse_usage(body: Mapping[str, Any], now: datetime, *, dialog_key: str | None = None) -> ParsedUsage:
    """One row per entry, in their order; the estimated row where there are none. `dialog_key`: for bodies without one.

    Numbers may be texts; a missing provider, model or phase is `unknown`; a missing total is prompt + completion. A
    total that is given is kept, also where the parts do not add up to it.
    Errors: InputError naming the field, such as `entries[2].promptTokens`; then no row is made.
    """
    request_id = _request_id(body)
    shared: dict[str, Any] = {
        "dialog_key": _text(body, "dialogKey", "dialogKey", ID_LIMIT) or dialog_key,
        "ru_id": _text(body, "ruId", "ruId", ID_LIMIT),
        "tu_id": _text(body, "tuId", "tuId", ID_LIMIT),
        "invite_type": _text(body, "inviteType", "inviteType", NAME_LIMIT),
    }
    entries = body.get("entries")
    if entries is not None and not isinstance(entries, list):
        raise InputError("entries is not a list.", field="entries")
    if not entries:
        prompt, completion = _estimate(body, "promptText"), _estimate(body, "completionText")
        calls: Sequence[tuple[Any, ...]] = [(*ESTIMATED, prompt, completion, prompt + completion, None, None)]
    elif len(entries) > ENTRY_LIMIT:
        raise TooLarge(f"entries holds more than {ENTRY_LIMIT:,} calls.", hint="Send several bodies.", field="entries")
    else:
        calls = [_call(entry, f"entries[{n}]") for n, entry in enumerate(entries)]
    seen: Counter[tuple[Any, ...]] = Counter()
    rows = []
    for call in calls:
        provider, model, phase, prompt, completion, total, cached, at = call
        rows.append(
            UsageRow(
                id=_key(request_id, call, seen[call]),
                at=at or now,
                request_id=request_id,
                provider=provider,
                model=model,
                phase=phase,
                prompt_tokens=prompt,
                completion_tokens=completion,
                total_tokens=total,
                cached_tokens=cached,
                **shared,
            )
        )
        seen[call] += 1
    return ParsedUsage(request_id, shared["dialog_key"], tuple(rows), estimated=not entries)


def parse_moment(value: Any, field: str) -> datetime | None:
    """ISO text or an epoch number (seconds, milliseconds) as an instant in UTC; without a zone it is UTC.

    Errors: InputError naming the field.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            seconds = value if value < _MILLIS_FROM else value / 1000
            if seconds < _EARLIEST_S:
                raise ValueError
            return _EPOCH + timedelta(seconds=seconds)
        if isinstance(value, str):
            text = value.strip()
            # A plus sign in a query that was not encoded arrives as a space.
            written = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
            return written.replace(tzinfo=UTC) if written.tzinfo is None else written.astimezone(UTC)
    except (ValueError, OverflowError):
        pass
    raise InputError(f"{field} is no moment.", hint="Send ISO text such as 2026-11-29T10:00:00Z.", field=field)


def _call(entry: Any, where: str) -> tuple[Any, ...]:
    if not isinstance(entry, Mapping):
        raise InputError(f"{where} is not an object.", field=where)
    names = [_text(entry, name, f"{where}.{name}", NAME_LIMIT) or UNKNOWN for name in ("provider", "model", "phase")]
    prompt, completion, total, cached = (
        _count(entry.get(name), f"{where}.{name}")
        for name in ("promptTokens", "completionTokens", "totalTokens", "cachedTokens")
    )
    if total is None and (prompt is not None or completion is not None):
        total = min(COUNT_LIMIT, (prompt or 0) + (completion or 0))
    return (*names, prompt, completion, total, cached, parse_moment(entry.get("at"), f"{where}.at"))


def _key(request_id: str, call: tuple[Any, ...], before: int) -> str:
    *said, at = call
    parts = [request_id, *said, at.isoformat() if at else None, before]
    return str(uuid.uuid5(_NAMESPACE, json.dumps(parts, separators=(",", ":"))))


def _request_id(body: Mapping[str, Any]) -> str:
    given = body.get("requestId")
    if given is None or given == "":
        raise InputError("requestId is missing.", hint="It tells a retry from a new request.", field="requestId")
    try:
        return str(uuid.UUID(given))
    except (ValueError, AttributeError, TypeError):
        raise InputError("requestId is no UUID.", field="requestId") from None


def _text(holder: Mapping[str, Any], name: str, where: str, limit: int) -> str | None:
    value = holder.get(name)
    if value is None or isinstance(value, bool) or not isinstance(value, (str, int)):
        if value is None:
            return None
        raise InputError(f"{where} is neither text nor a number.", field=where)
    text = str(value).strip()
    if len(text) > limit or _UNSTORABLE.search(text):
        raise InputError(f"{where} is longer than {limit} characters, or cannot be stored.", field=where)
    return text or None


def _count(value: Any, where: str) -> int | None:
    if value is None or value == "":
        return None
    try:
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        number = int(value) if not isinstance(value, float) or value.is_integer() else -1
    except (ValueError, OverflowError):
        number = -1
    if not 0 <= number <= COUNT_LIMIT:
        raise InputError(f"{where} is no whole number from 0 on.", field=where)
    return number


def _estimate(body: Mapping[str, Any], name: str) -> int:
    value = body.get(name)
    if value is not None and not isinstance(value, str):
        raise InputError(f"{name} is not text.", field=name)
    return estimate_tokens(value or "")
