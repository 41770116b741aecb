"""What calls used and cost."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from core.companion.converse.rules_tier.answer import Chart, Part, RuleAnswer, Table, counted
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.intents import Intent
from core.usage.lines import Line, folded
from core.usage.periods import Period, before, day_buckets, last_days, midnight
from core.usage.pricing import plain

DAYS = {"today": 1, "week": 7, "month": 30}
NAMES = {"today": "Today", "yesterday": "Yesterday", "week": "The last 7 days", "month": "The last 30 days"}
ROWS = 12


def cost(given: Sources, intent: Intent) -> RuleAnswer:
    """Tokens, calls and cost of a range beside the range before; by a group, and by day as a chart."""
    name = intent.range or "today"
    now = given.clock.now()
    if name == "yesterday":
        day = given.today() - timedelta(days=1)
        period = Period(midnight(day, given.zone), midnight(given.today(), given.zone))
    else:
        period = last_days(DAYS[name], now, given.zone)
    group = intent.group or "model"
    found = given.usage.summary(period, tuple(dict.fromkeys((group, "day"))), given.zone.key)
    earlier = given.usage.summary(before(period, given.zone), (), given.zone.key).total
    total = found.total
    source = given.source("usage", f"{NAMES[name].lower()}, in whole hours")
    lines = [
        f"{counted(total.tokens.calls, 'call')}, {total.tokens.total:,} tokens "
        f"({total.tokens.prompt:,} prompt, {total.tokens.completion:,} completion)",
        f"before, up to the same time: {counted(earlier.tokens.calls, 'call')}, {earlier.tokens.total:,} tokens, "
        f"{_usd(earlier)}",
    ]
    if total.cost.unpriced:
        lines.append(f"{total.cost.unpriced:,} tokens have no price, so that the cost is a lower bound")
    groups = sorted(folded(found.lines, (group,)).items(), key=lambda one: -one[1].tokens.total)
    if group == "day":
        groups.sort(key=lambda one: str(one[0][0]))
    shown = groups if group == "day" else groups[:ROWS]
    rows = tuple((str(key[0]), line.tokens.calls, line.tokens.total, _amount(line)) for key, line in shown)
    chart = None
    if name in ("week", "month"):
        by_day = {str(key[0]): line for key, line in folded(found.lines, ("day",)).items()}
        days = tuple(day_buckets(period, given.zone))
        values = tuple(float(by_day[d].tokens.total) if d in by_day else 0.0 for d in days)
        chart = Chart("Tokens by day", "tokens", days, values, source) if any(values) else None
    return RuleAnswer(
        "cost",
        f"{NAMES[name]}: {_usd(total)}.",
        (Part(source, tuple(lines)),),
        Table((group, "calls", "tokens", "USD"), rows, source) if rows else None,
        chart,
        suggestions=("What did it cost this month, by phase?", "How was my week?"),
    )


def _usd(line: Line) -> str:
    if not line.tokens.calls:
        return "nothing was used"
    if not line.cost.known:
        return "no price is known"
    return f"{'at least ' if line.cost.lower_bound else ''}{_rounded(line)} USD"


def _rounded(line: Line) -> str:
    usd = line.cost.usd
    return f"{usd:.2f}" if usd >= 1 else plain(round(usd, 4 if usd >= Decimal("0.01") else 6))


def _amount(line: Line) -> float | None:
    return round(float(line.cost.usd), 6) if line.cost.known else None
