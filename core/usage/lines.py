"""Tokens and cost of groups, dialogs, requests and calls; and how lines of a finer grain add up. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.errors import InputError
from core.usage.entries import ESTIMATED, PHASES, PROVIDERS, UNKNOWN
from core.usage.pricing import Cost, Tokens, plain

GROUPS = ("hour", "day", "provider", "model", "phase")
DEFAULT_GROUPS = "day,provider,model,phase"


@dataclass(frozen=True)
class Line:
    """Tokens and cost of one group; a dimension that was not asked for is None. `hour` is ISO text in UTC."""

    tokens: Tokens
    cost: Cost
    hour: str | None = None
    day: str | None = None
    provider: str | None = None
    model: str | None = None
    phase: str | None = None

    def as_json(self, group_by: Sequence[str]) -> dict[str, Any]:
        """As the API answers; money as text, because a JSON number becomes a binary fraction, None where unpriced."""
        return {
            **{name: getattr(self, name) for name in group_by},
            "calls": self.tokens.calls,
            "prompt": self.tokens.prompt,
            "completion": self.tokens.completion,
            "total": self.tokens.total,
            "cached": self.tokens.cached,
            "unattributed": self.tokens.unattributed,
            "costUsd": plain(self.cost.usd) if self.cost.known else None,
            "costIsLowerBound": self.cost.lower_bound,
            "unpricedTokens": self.cost.unpriced,
        }


@dataclass(frozen=True)
class Summary:
    """Usage within whole UTC hours, `start` included and `end` not. `undated`: calls without a time, in no range."""

    start: datetime
    end: datetime
    first: datetime | None
    undated: int
    stale: bool
    lines: tuple[Line, ...]

    @property
    def total(self) -> Line:
        return together(self.lines)


@dataclass(frozen=True)
class DialogLine:
    """One dialog within the range; `dialog_key` None stands for all calls that belong to no dialog."""

    dialog_key: str | None
    ru_id: str | None
    tu_id: str | None
    last_at: str | None
    calls: int
    total: int
    cost: Cost | None


@dataclass(frozen=True)
class Call:
    """One row of the log with its cost; `alike`: rows equal in everything but their id, this one included."""

    at: datetime
    provider: str
    model: str
    phase: str
    tokens: Tokens
    cost: Cost
    alike: int = 1

    @property
    def estimated(self) -> bool:
        return is_estimated(self.provider, self.model, self.phase)


@dataclass(frozen=True)
class RequestLine:
    """One request: its calls in order of time."""

    request_id: str
    dialog_key: str | None
    calls: tuple[Call, ...]

    @property
    def tokens(self) -> Tokens:
        return sum((c.tokens for c in self.calls), Tokens())

    @property
    def cost(self) -> Cost:
        return sum((c.cost for c in self.calls), Cost())


@dataclass(frozen=True)
class Page:
    """Lines of a list and how many there are in all."""

    rows: tuple[Any, ...]
    total: int


@dataclass(frozen=True)
class Anomaly:
    """An hour (UTC) with many times the tokens of the same hour on other days; `factor` None over a median of 0."""

    hour: datetime
    total: int
    calls: int
    median: int
    days: int
    factor: float | None


def parse_groups(text: str) -> tuple[str, ...]:
    """`day,model` as the groupings it names, each once. Errors: InputError naming groupBy."""
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if set(names) - set(GROUPS):
        raise InputError("groupBy names no grouping of usage.", hint=f"Known: {', '.join(GROUPS)}.", field="groupBy")
    return names


def is_estimated(provider: str | None, model: str | None, phase: str | None) -> bool:
    """Whether a row is the guess for a request that named no entries: the log has no column for it."""
    return (provider, model, phase) == ESTIMATED


def is_unknown(provider: str | None, model: str | None, phase: str | None) -> bool:
    """Whether it is not known which model it was, or provider or phase are none of those the service has."""
    return model in (UNKNOWN, "") or provider not in PROVIDERS or phase not in PHASES


def together(lines: Sequence[Line]) -> Line:
    """All lines as one."""
    return Line(sum((x.tokens for x in lines), Tokens()), sum((x.cost for x in lines), Cost()))


def folded(lines: Sequence[Line], names: Sequence[str]) -> dict[tuple[Any, ...], Line]:
    """Lines summed by some of their dimensions, in the order of their first appearance."""
    found: dict[tuple[Any, ...], Line] = {}
    for line in lines:
        key = tuple(getattr(line, name) for name in names)
        found[key] = plus(found[key], line) if key in found else line
    return found


def plus(one: Line, other: Line) -> Line:
    return Line(
        one.tokens + other.tokens,
        one.cost + other.cost,
        **{name: getattr(one, name) for name in GROUPS if getattr(one, name) == getattr(other, name)},
    )
