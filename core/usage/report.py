"""What was used and what it cost, out of the rollup: every figure in hours that SQL names, every cost a decimal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.db.client import Database
from core.errors import InputError
from core.usage.lines import GROUPS, Anomaly, Call, DialogLine, Line, Page, RequestLine, Summary, plus
from core.usage.periods import LONGEST_BY_HOUR_DAYS, Period
from core.usage.prices import Prices
from core.usage.pricing import Cost, PriceBook, Tokens, cost, size_over


class UsageReports:
    """Reads over usage. Errors of all: DatabaseError."""

    def __init__(self, db: Database, prices: Prices) -> None:
        self._db = db
        self._prices = prices

    def summary(self, period: Period, group_by: Sequence[str], zone: str = "UTC") -> Summary:
        """Tokens and cost by any of GROUPS; `day` is a day of the zone. Errors: InputError.

        Source: desk_usage_summary.
        """
        if set(group_by) - set(GROUPS):
            raise InputError(
                "groupBy names no grouping of usage.", hint=f"Known: {', '.join(GROUPS)}.", field="groupBy"
            )
        if "hour" in group_by and period.days > LONGEST_BY_HOUR_DAYS + 1:
            raise InputError(f"By hour at most {LONGEST_BY_HOUR_DAYS} days.", field="groupBy")
        book = self._prices.book()
        answer = self._ask("desk_usage_summary", period, {"p_group_by": list(group_by), "p_tz": zone})
        lines: dict[tuple[Any, ...], Line] = {}
        for row in answer["rows"]:
            key = tuple(row[name] for name in group_by)
            line = Line(Tokens.of(row), _cost(row, book), **dict(zip(group_by, key, strict=True)))
            lines[key] = plus(lines[key], line) if key in lines else line
        first = answer.get("first")
        return Summary(
            start=_moment(answer["from"]),
            end=_moment(answer["to"]),
            first=_moment(first) if first else None,
            undated=int(answer["undated"]),
            stale=bool(answer["stale"]),
            lines=tuple(lines.values()),
        )

    def dialogs(self, period: Period, limit: int = 25, offset: int = 0) -> Page:
        """Dialogs by total tokens, the largest first. Source: desk_usage_dialogs."""
        book = self._prices.book()
        answer = self._ask("desk_usage_dialogs", period, {"p_limit": limit, "p_offset": offset})
        rows = tuple(
            DialogLine(
                row["dialog_key"],
                row.get("ru_id"),
                row.get("tu_id"),
                row.get("last_at"),
                int(row["calls"]),
                int(row["total"]),
                sum((_cost(part, book) for part in row["parts"]), Cost()) if row["dialog_key"] else None,
            )
            for row in answer["rows"]
        )
        return Page(rows, int(answer["total"]))

    def requests(self, period: Period, dialog_key: str | None = None, limit: int = 25, offset: int = 0) -> Page:
        """Requests, the largest first; of one dialog the latest first. Source: desk_usage_requests."""
        book = self._prices.book()
        answer = self._ask(
            "desk_usage_requests", period, {"p_dialog_key": dialog_key, "p_limit": limit, "p_offset": offset}
        )
        rows = tuple(
            RequestLine(row["request_id"], row["dialog_key"], tuple(_call(call, book) for call in row["calls"]))
            for row in answer["rows"]
        )
        return Page(rows, int(answer["total"]))

    def request(self, request_id: str) -> RequestLine | None:
        """One request by its id, None where no row has it. Source: desk_usage_request."""
        rows = self._db.rpc("desk_usage_request", {"p_request_id": request_id}, read=True, returns=list)
        if not rows:
            return None
        book = self._prices.book()
        return RequestLine(request_id, rows[0]["dialog_key"], tuple(_call(row, book) for row in rows))

    def anomalies(self, period: Period, zone: str = "UTC") -> tuple[Anomaly, ...]:
        """Hours above three times the median of the same hour of the 14 days before, the latest first.

        Source: desk_usage_anomalies; the rule is `token-spike` of spec/companion.md section 18.
        """
        rows = self._db.rpc(
            "desk_usage_anomalies",
            {"p_from": period.start.isoformat(), "p_to": period.end.isoformat(), "p_tz": zone},
            read=True,
            returns=list,
        )
        return tuple(
            Anomaly(_moment(r["hour"]), int(r["total"]), int(r["calls"]), int(r["median"]), int(r["days"]), r["factor"])
            for r in rows
        )

    def _ask(self, name: str, period: Period, more: Mapping[str, Any]) -> dict[str, Any]:
        given = {"p_from": period.start.isoformat(), "p_to": period.end.isoformat(), **more}
        return self._db.rpc(name, given, read=True, returns=dict, timeout_s=30.0)


def _cost(row: Mapping[str, Any], book: PriceBook) -> Cost:
    at = _moment(row["priced_at"])
    return cost(Tokens.of(row), row["provider"], row["model"], int(row["size_over"]), at, book)


def _call(row: Mapping[str, Any], book: PriceBook) -> Call:
    tokens = Tokens.of_call(row["prompt"], row["completion"], row["total"], row["cached"])
    at, provider, model = _moment(row["at"]), row["provider"], row["model"]
    priced = cost(tokens, provider, model, size_over(tokens.prompt), at, book)
    return Call(at, provider, model, row["phase"], tokens, priced, int(row.get("alike", 1)))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)
