"""Usage: tokens and cost, as the companion sees them. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    Section,
    StreakDef,
)
from core.companion.modules.desk import Desk, share
from core.companion.modules.usage_rules import RULES
from core.companion.modules.usage_tools import inverses, tools
from core.usage.entries import UNKNOWN
from core.usage.lines import Line, Summary, folded, is_estimated, together
from core.usage.periods import Period

EVENTS = (
    *("TokensLogged", "TokenBudgetExceeded", "CostLimitExceeded", "TokenSpikeDetected", "UnknownModelShareHigh"),
    *("PriceSet", "UsageBudgetSet"),
)
STALE_AFTER = ("TokensLogged", "PriceSet", "UsageBudgetSet")
LOGGED = Measure(("TokensLogged",))
EMPTY: Mapping[str, Any] = {
    **dict.fromkeys(("requests", "calls", "prompt", "completion", "total", "unknown_calls", "calls_6h"), 0),
    **dict.fromkeys(("cost", "unknown_percent", "estimated_percent", "tokens_per_request"), 0.0),
    **{"by_phase": {}, "by_model": {}, "by_provider": {}, "cost_is_lower_bound": False, "spike": None, "limits": {}},
    "budget": {"limit": None, "percent": None, "usd_per_day": None, "usd_percent": None},
}
Figure = Callable[[Line], float]


def usage(desk: Desk) -> Module:
    def budget() -> float:
        limit = desk.deps.usage.prices.budget().tokens_per_day
        return -1.0 if limit is None else float(limit)  # without a budget no day is within it

    tokens = days(desk, lambda line: float(line.tokens.total))
    return Module(
        name="usage",
        label="Usage",
        content_class="personal",
        events=EVENTS,
        section=Section(lambda day: section(desk, day), EMPTY, stale_after=STALE_AFTER),
        tools=tools(desk),
        streaks=(
            StreakDef(
                "usage.within_budget", "usage", "Within the token budget", LOGGED, budget, "lte", True, daily=tokens
            ),
            StreakDef(
                "usage.no_unknown", "usage", "No unknown model", LOGGED, 0, "lte", True, daily=days(desk, None)
            ),
        ),
        metrics=(
            MetricDef("usage.tokens", "usage", "Tokens", "tokens", daily=tokens),
            MetricDef("usage.cost", "usage", "Cost", "USD", daily=days(desk, lambda line: float(line.cost.usd)),
                      trivial_with=("usage.tokens",)),
            MetricDef("usage.calls", "usage", "Calls", "calls", daily=days(desk, lambda line: float(line.tokens.calls)),
                      trivial_with=("usage.tokens", "memory.searches")),
            MetricDef("usage.tokens_per_request", "usage", "Tokens of a request", "tokens",
                      Measure(("TokensLogged",), "avg", "total")),
            MetricDef("usage.repair_calls", "usage", "Calls to repair", "calls", daily=days(desk, None, phase="repair"),
                      trivial_with=("usage.tokens",)),
            MetricDef("usage.unknown_percent", "usage", "Calls of an unknown model", "%",
                      daily=days(desk, None, percent=True)),
        ),
        goal_templates=_goals(),
        rules=RULES,
        extractors=(Extractor("time", "TokensLogged", "models are called"),),
        inverses=inverses(desk),
    )  # fmt: skip


def section(desk: Desk, day: date) -> Mapping[str, Any]:
    """The usage of a local day. Errors: DatabaseError."""
    deps, now = desk.deps, desk.deps.clock.now()
    period = desk.period(day)
    until = max(period.start, min(period.end, now))
    found = deps.usage.reports.summary(Period(period.start, until), ("provider", "model", "phase"))
    asked: Any = desk.read("companion_usage_day", **{"from": period.start}, to=period.end, now=now)
    all_of, limits = found.total, deps.usage.prices.budget()
    tokens, cost = all_of.tokens, all_of.cost
    unknown = sum(line.tokens.calls for line in found.lines if is_unknown_model(line))
    estimated = sum(x.tokens.calls for x in found.lines if is_estimated(x.provider, x.model, x.phase))
    limit, usd = limits.tokens_per_day, limits.usd_per_day
    names = ("unknown_percent", "unknown_percent_high", "calls_least", "spike_factor_high", "warn_percent")
    return {
        "requests": asked["requests"],
        "calls": tokens.calls,
        "prompt": tokens.prompt,
        "completion": tokens.completion,
        "total": tokens.total,
        **{f"by_{name}": _tokens_by(found, name) for name in ("phase", "model", "provider")},
        "cost": float(cost.usd),
        "cost_is_lower_bound": cost.lower_bound,
        "budget": {
            "limit": limit,
            "percent": round(100 * tokens.total / limit, 1) if limit else None,
            "usd_per_day": None if usd is None else float(usd),
            "usd_percent": round(float(100 * cost.usd / usd), 1) if usd else None,
        },
        "unknown_calls": unknown,
        "unknown_percent": share(unknown, tokens.calls),
        "estimated_percent": share(estimated, tokens.calls),
        "tokens_per_request": round(tokens.total / asked["requests"], 1) if asked["requests"] else 0.0,
        "calls_6h": int(asked["calls_6h"]),
        "spike": _spike(desk),
        "limits": {name: desk.limit(f"usage.{name}") for name in names},
    }


def is_unknown_model(line: Line) -> bool:
    return line.model in (UNKNOWN, "")


def days(
    desk: Desk, figure: Figure | None, *, phase: str | None = None, percent: bool = False
) -> Callable[[date, date], Mapping[date, float]]:
    """A figure of each local day with calls, from the totals by hour. Without `figure` it counts calls: those of a
    phase, else those of an unknown model, the latter as a share with `percent`."""

    def read(since: date, until: date) -> Mapping[date, float]:
        period = Period(desk.period(since).start, min(desk.period(until).end, desk.deps.clock.now()))
        if period.end <= period.start:
            return {}
        lines = desk.deps.usage.reports.summary(period, ("day", "provider", "model", "phase"), desk.deps.zone.key).lines
        of_day = {key[0]: [x for x in lines if x.day == key[0]] for key in folded(lines, ("day",))}
        return {date.fromisoformat(str(day)): _figure(found) for day, found in of_day.items()}

    def _figure(lines: list[Line]) -> float:
        if figure is not None:
            return figure(together(lines))
        kept = [x for x in lines if (x.phase == phase if phase else is_unknown_model(x))]
        calls = sum(x.tokens.calls for x in kept)
        return share(calls, sum(x.tokens.calls for x in lines)) if percent else float(calls)

    return read


def _tokens_by(found: Summary, name: str) -> dict[str, int]:
    return {str(key[0]): line.tokens.total for key, line in folded(found.lines, (name,)).items()}


def _spike(desk: Desk) -> dict[str, Any] | None:
    """The last full hour where it is far above the same hour of the days before; None with fewer than 5 of those."""
    end = desk.deps.clock.now().replace(minute=0, second=0, microsecond=0)
    found = desk.deps.usage.reports.anomalies(Period(end - timedelta(hours=1), end), desk.deps.zone.key)
    if not found:
        return None
    one, local = found[0], found[0].hour.astimezone(desk.deps.zone)
    facts = {"actual": one.total, "baseline": one.median, "factor": one.factor, "days": one.days}
    return {"date": local.date().isoformat(), "hour": local.hour, **facts}


def _goals() -> tuple[GoalTemplate, ...]:
    return (
        GoalTemplate(
            "usage.tokens-day", "At most 500,000 tokens a day", "usage",
            GoalMetric("event_sum", ("TokensLogged",), sum_field="total"), GoalTarget(500_000, "day", "lte"),
        ),
        GoalTemplate(
            "usage.cost-day", "At most 5 USD a day", "usage",
            GoalMetric("custom", name="usage.cost"), GoalTarget(5, "day", "lte"),
        ),
        GoalTemplate(
            "usage.cost-month", "At most 100 USD a month", "usage",
            GoalMetric("custom", name="usage.cost"), GoalTarget(100, "month", "lte"),
        ),
        GoalTemplate(
            "usage.few-unknown", "At most 2 % calls of an unknown model", "usage",
            GoalMetric("custom", name="usage.unknown_percent"), GoalTarget(2, "day", "lte"),
        ),
    )  # fmt: skip
