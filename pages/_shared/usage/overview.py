"""Figures with their comparison, the amounts over time, and the groups behind them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any, Literal

import streamlit as st

from core.usage.lines import Line, Summary, folded, is_estimated, is_unknown, together
from core.usage.periods import day_buckets, hour_buckets, hour_label
from core.usage.prices import Budget
from core.usage.pricing import plain
from pages._shared import charts, tables
from pages._shared.layout import panel
from pages._shared.tables import Column
from pages._shared.usage import drawing, words
from pages._shared.usage.choices import Choice
from pages._shared.zone import my_zone, my_zone_name

MONTH = 30  # days
UNITS = {"tokens": "tokens", "cost": "USD", "calls": "calls"}
NAMES = ("provider", "model", "phase")
COLUMNS = (
    Column("calls", "Calls", "count"),
    Column("total", "Tokens", "count"),
    Column("prompt", "Prompt", "count"),
    Column("completion", "Completion", "count"),
    Column("unattributed", "Not attributed", "count", help="What totals are more than prompt and completion."),
    Column("cached", "Cached", "count", help="Part of the prompt, not on top of it."),
    Column("cost", "Cost (USD)", "amount", help="≥ where tokens have no price or belong to neither part."),
    Column("unpriced", "Without price", "count", help="Tokens."),
    Column("change", "Change", "amount", help="Tokens against the period before."),
)
FIELDS = tuple(c.field for c in COLUMNS if c.field not in ("cost", "change"))


def figures(now: Summary, then: Summary, choice: Choice, budget: Budget) -> None:
    """Totals with their change, and how much of it is a guess."""
    total, past = now.total, then.total
    unknown = together([line for line in now.lines if is_unknown(line.provider, line.model, line.phase)])
    guessed = together([line for line in now.lines if is_estimated(line.provider, line.model, line.phase)])
    against = f"against the {choice.days} days before, up to the same time of day"
    with st.container(horizontal=True, gap="small"):
        for label, value, new, old, more in (
            (
                "Tokens",
                words.tokens(total.tokens.total),
                total.tokens.total,
                past.tokens.total,
                _exact(total, "tokens"),
            ),
            ("Cost (USD)", words.cost(total.cost), total.cost.usd, past.cost.usd, words.cost_help(total.cost)),
            ("Calls", f"{total.tokens.calls:,}", total.tokens.calls, past.tokens.calls, _exact(total, "calls")),
        ):
            _figure(label, value, words.change_text(words.change(new, old)), f"{more} Change {against}.", arrow="auto")
        _figure(
            "Unknown",
            words.share(unknown.tokens.total, total.tokens.total),
            f"{words.share(guessed.tokens.total, total.tokens.total)} estimated",
            f"Tokens of model `unknown`, or of a provider or phase that the service does not have: "
            f"{unknown.tokens.total:,}. Estimated (~): the request named no calls, its texts were counted: "
            f"{guessed.tokens.total:,}.",
        )
        _budget(total, budget, choice)


def _budget(total: Line, budget: Budget, choice: Choice) -> None:
    days = Decimal(max(1, choice.days))
    means = "The mean of the days shown, today included as far as it has come."
    span, spent, limit = "day", total.cost.usd / days, budget.usd_per_day
    if limit is None and budget.tokens_per_day is None and budget.usd_per_month is not None:
        span, spent, limit = "month", spent * MONTH, budget.usd_per_month
        means += f" A month at that pace has {MONTH} of them."
    if limit is not None and (total.cost.known or budget.tokens_per_day is None):
        used = f"{spent / limit:.0%}" if limit else "–"
        unknown = "Nothing used in this range has a price. "
        _figure(
            f"Budget used a {span}",
            used if total.cost.known else "unknown",
            f"of {words.usd(limit)}",
            means if total.cost.known else unknown + means,
        )
    elif budget.tokens_per_day is not None:
        used = f"{Decimal(total.tokens.total) / days / budget.tokens_per_day:.0%}" if budget.tokens_per_day else "–"
        _figure("Budget used a day", used, f"of {words.tokens(budget.tokens_per_day)} tokens", means)
    else:
        _figure("Budget", "none", None, "Set one below, beside the prices.")


def _exact(line: Line, what: str) -> str:
    return f"{line.tokens.total if what == 'tokens' else line.tokens.calls:,} {what}."


def _figure(label: str, value: str, under: str | None, says: str, arrow: Literal["auto", "off"] = "off") -> None:
    st.metric(
        label,
        value,
        under,
        delta_color="off",
        delta_arrow=arrow,
        border=True,
        height="stretch",
        width="stretch",
        help=says.replace("$", "\\$"),  # a help text is Markdown
    )


def over_time(now: Summary, choice: Choice, budget: Budget) -> None:
    """The one main view: stacked by what was chosen."""
    zone = my_zone()
    buckets = (hour_buckets if choice.step == "hour" else day_buckets)(choice.period, zone)
    lines = folded(now.lines, (choice.step, *choice.by))
    series: dict[str, dict[str, Any]] = {}
    for (bucket, *names), line in lines.items():
        name = " · ".join(str(n) or "(none)" for n in names) or "all calls"
        amounts = series.setdefault(name, {})
        place = hour_label(datetime.fromisoformat(bucket), zone) if choice.step == "hour" else bucket
        amounts[place] = amounts.get(place, 0) + amount(line, choice.measure)
    limit: Decimal | int | None = None
    if choice.step == "day":
        limit = {"tokens": budget.tokens_per_day, "cost": budget.usd_per_day}.get(choice.measure)
    title = {"tokens": "Tokens", "cost": "Cost (USD)", "calls": "Calls"}[choice.measure]
    says = (
        f"By {choice.step} of {my_zone_name()}; totals are kept by UTC hour. "
        f"Up to now; {'an hour' if choice.step == 'hour' else 'a day'} without a call is a zero."
    )
    if choice.measure == "cost" and now.total.cost.lower_bound:
        says += " A lower bound: some tokens have no price or belong to neither part."
    rows = _bucket_rows(buckets, series)
    charts.card(
        f"{title} by {choice.step}",
        says,
        drawing.over_time(buckets, series, UNITS[choice.measure], limit),
        key="usage-over-time",
        table=partial(_bucket_table, rows, choice.step),
    )


def amount(line: Line, measure: str) -> int | Decimal:
    """Tokens, calls, or what is known of the cost."""
    if measure == "cost":
        return line.cost.usd
    return line.tokens.total if measure == "tokens" else line.tokens.calls


def _bucket_rows(buckets: list[str], series: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    rows = []
    for bucket in buckets:
        for name, amounts in series.items():
            value = amounts.get(bucket, 0)
            rows.append(
                {"bucket": bucket, "group": name, "amount": plain(value) if isinstance(value, Decimal) else value}
            )
    return rows


def _bucket_table(rows: list[dict[str, Any]], step: str) -> None:
    columns = (Column("bucket", step.capitalize()), Column("group", "Group"), Column("amount", "Amount", "amount"))
    tables.show(rows, columns, key="usage-buckets", zone=my_zone_name())
    tables.downloads(rows, [c.field for c in columns], name="usage-over-time", key="usage-buckets-file")


def groups(now: Summary, then: Summary, choice: Choice) -> None:
    """The same by group, with the change of each."""
    by = choice.by or NAMES
    past = folded(then.lines, by)
    found = folded(now.lines, by)
    rows = [group_row(dict(zip(by, key, strict=True)), line, past.get(key)) for key, line in found.items()]
    rows.sort(key=lambda row: -row["total"])
    label = ", ".join(by)
    with panel(f"Usage by {label}", "The range above against the period before, up to the same time of day."):
        names = tuple(Column(name, name.capitalize()) for name in by)
        tables.show(rows, (*names, *COLUMNS), key="usage-groups", zone=my_zone_name(), height="content")
        tables.downloads(
            rows, [*by, *FIELDS, "cost_usd", "change_percent", "estimated"], name="usage", key="usage-groups-file"
        )


def group_row(names: Mapping[str, Any], line: Line, past: Line | None) -> dict[str, Any]:
    """A group as table and file show it; `cost_usd` is exact, and empty where nothing has a price."""
    percent = words.change(line.tokens.total, past.tokens.total) if past else None
    return {
        **{name: f"~{value}" if value == "unknown" else value or "(none)" for name, value in names.items()},
        "calls": line.tokens.calls,
        "total": line.tokens.total,
        "prompt": line.tokens.prompt,
        "completion": line.tokens.completion,
        "unattributed": line.tokens.unattributed,
        "cached": line.tokens.cached,
        "cost": words.cost(line.cost),
        "cost_usd": Decimal(plain(line.cost.usd)) if line.cost.known else None,
        "unpriced": line.cost.unpriced,
        "change": words.change_text(percent),
        "change_percent": percent,
        "estimated": is_estimated(line.provider, line.model, line.phase),
    }
