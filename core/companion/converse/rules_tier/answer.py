"""An answer by rules as plain data: words, lines and a table or chart, each with the page that it was read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

SUGGESTIONS = (
    "How is today?",
    "How was my week?",
    "What is wrong?",
    "What did it cost this week, by model?",
    "Which goals are behind?",
    "What is due?",
    "How are my streaks?",
    "Which proposals wait?",
    "Is everything synced?",
    "Which patterns are there?",
)


@dataclass(frozen=True)
class Source:
    """Where figures come from: the page that shows them (its address), what of it, and when it was true."""

    page: str
    what: str
    as_of: datetime


@dataclass(frozen=True)
class Part:
    """Lines of one source."""

    source: Source
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """Cells are texts and numbers; columns of numbers hold None where nothing is known."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    source: Source


@dataclass(frozen=True)
class Chart:
    """One bar a day; days as ISO text, None where nothing is known."""

    title: str
    unit: str
    days: tuple[str, ...]
    values: tuple[float | None, ...]
    source: Source


@dataclass(frozen=True)
class RuleAnswer:
    """`intent` names what was understood, "unknown" where nothing was. `dialogs`: the keys that it is about."""

    intent: str
    says: str
    parts: tuple[Part, ...] = ()
    table: Table | None = None
    chart: Chart | None = None
    suggestions: tuple[str, ...] = ()
    dialogs: tuple[str, ...] = ()

    def text(self) -> str:
        """All of it but the chart, for whoever shows only text."""
        lines = [self.says]
        for part in self.parts:
            lines += [f"- {line} [{named(part.source)}]" for line in part.lines]
        if self.table:
            lines.append(" | ".join(self.table.columns))
            lines += [" | ".join("–" if cell is None else str(cell) for cell in row) for row in self.table.rows]
            lines.append(f"[{named(self.table.source)}]")
        lines += [f"- {suggestion}" for suggestion in self.suggestions]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """To be kept with the message; without `dialogs`, which are kept where an erasure finds them."""
        return _plain(asdict(replace(self, dialogs=())))


def answer_of(kept: Mapping[str, Any]) -> RuleAnswer:
    """From `as_json`. Errors: KeyError, TypeError, ValueError where it is of another version."""
    table, chart = kept.get("table"), kept.get("chart")
    return RuleAnswer(
        intent=kept["intent"],
        says=kept["says"],
        parts=tuple(Part(_source(p["source"]), tuple(p["lines"])) for p in kept["parts"]),
        table=Table(tuple(table["columns"]), tuple(tuple(r) for r in table["rows"]), _source(table["source"]))
        if table
        else None,
        chart=Chart(
            chart["title"], chart["unit"], tuple(chart["days"]), tuple(chart["values"]), _source(chart["source"])
        )
        if chart
        else None,
        suggestions=tuple(kept["suggestions"]),
    )


def counted(number: int, one: str, many: str | None = None) -> str:
    """1 call, 2,000 calls; `many` where it is not made with an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def named(source: Source) -> str:
    """A source in words: page, part, moment."""
    return f"{source.page}: {source.what}, as of {source.as_of:%Y-%m-%d %H:%M}"


def _source(kept: Mapping[str, Any]) -> Source:
    return Source(kept["page"], kept["what"], datetime.fromisoformat(kept["as_of"]))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(found) for name, found in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value.isoformat() if isinstance(value, datetime) else value
