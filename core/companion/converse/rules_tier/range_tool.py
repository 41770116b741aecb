"""The figures of a week or a month, as a tool that a model may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.converse.rules_tier.figures import Compared

DAYS = {"yesterday": 1, "week": 7, "month": 30}
Compare = Callable[[date, int], tuple[Compared, ...]]


def compare_days(compare: Compare, today: Callable[[], date], hidden: Callable[[], frozenset[str]]) -> ModuleTool:
    """`hidden`: modules of which a model is told nothing."""

    def run(given: Mapping[str, Any]) -> ToolResult:
        days = DAYS[given["range"]]
        last = today() - timedelta(days=given["range"] == "yesterday")
        found = [one for one in compare(last, days) if not one.failed]
        first = last - timedelta(days=days - 1)
        span = {"from": first.isoformat(), "to": last.isoformat(), "days": days, "compared_with_days_before": days}
        kept = [one for one in found if one.module not in hidden()]
        words = f"{len(found)} figures of {days} {'day' if days == 1 else 'days'} up to {last}, and as many before."
        return ToolResult(
            True,
            words,
            {**span, "figures": [_row(one) for one in found]},
            {**span, "figures": [_row(one) for one in kept]},
        )

    return ModuleTool(
        name="compare_days",
        module="insights",
        label="Compare days",
        description="What the last 7 or 30 days came to, beside as many days before: tasks, water, usage, incidents.",
        execute=run,
        action="companion",
        default_policy="auto",
        content_class="personal",
        parameters=(Parameter("range", "string", "Which days, today included.", enum=tuple(DAYS), default="week"),),
        read_only=True,
    )


def _row(one: Compared) -> dict[str, Any]:
    return {"figure": one.name, "now": one.now, "before": one.before, "change": one.change, "page": one.page}
