"""What can be asked and set of usage by name. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from core.access import acting
from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.companion.modules.memory_reads import KEY
from core.errors import ConflictError
from core.usage.entries import PROVIDERS
from core.usage.lines import Line, folded
from core.usage.periods import Period, last_days, parse_bound
from core.usage.prices import Budget, amount
from core.usage.pricing import plain

RANGES = {"today": 1, "yesterday": 1, "week": 7, "month": 30}
GROUPS = ("phase", "model", "provider", "day")
MILLION = 1_000_000


def tools(desk: Desk) -> tuple[ModuleTool, ...]:
    deps = desk.deps

    def usage_summary(given: Params) -> ToolResult:
        period, group = _period(desk, given["range"]), given["group_by"]
        found = deps.usage.reports.summary(period, (group,), deps.zone.key)
        facts = {**_line(found.total), "from": found.start.isoformat(), "to": found.end.isoformat()}
        facts["groups"] = {str(key[0]): _line(line) for key, line in folded(found.lines, (group,)).items()}
        total = found.total.tokens
        return done(f"{total.total:,} tokens in {total.calls:,} calls.", facts, facts)

    def usage_by_dialog(given: Params) -> ToolResult:
        since = parse_bound(given.get("since"), deps.zone, "since", end=False)
        found = deps.usage.recorder.dialog_usage(given["dialog_key"], since)
        facts = {name: getattr(found, name) for name in ("calls", "prompt", "completion", "total")}
        return done(f"{found.total:,} tokens in {found.calls:,} calls.", facts, facts)

    def estimate_cost(given: Params) -> ToolResult:
        tokens, now = Decimal(given["tokens"]), deps.clock.now()
        book = deps.usage.prices.book()
        for provider in (given["provider"],) if "provider" in given else PROVIDERS:
            prices = book.at(provider, given["model"], now)
            if prices:
                price = prices[min(prices)]
                costs = {"as_prompt": price.input_usd, "as_completion": price.output_usd}
                facts = {name: None if usd is None else plain(usd * tokens / MILLION) for name, usd in costs.items()}
                return done("USD, for a call of the smallest size.", facts, facts)
        return ToolResult(False, "No price is entered for this model.")

    def set_token_budget(given: Params) -> ToolResult:
        before = deps.usage.prices.budget()
        if before.tokens_per_day == given["value"]:
            return ToolResult(False, "That is the budget already.")
        deps.usage.set_budget(acting(), replace(before, tokens_per_day=given["value"]))
        facts = {"before": before.tokens_per_day, "now": given["value"]}
        return done(f"The budget is {given['value']:,} tokens a day now.", facts, facts)

    shared: dict[str, Any] = {"module": "usage", "content_class": "personal"}
    read: dict[str, Any] = {**shared, "action": "usage", "default_policy": "auto", "read_only": True}
    return (
        ModuleTool(
            "usage_summary", label="Usage", execute=usage_summary,
            description="Calls, tokens and cost of a range, grouped.",
            parameters=(
                Parameter("range", "string", "Which range.", enum=tuple(RANGES), default="today"),
                Parameter("group_by", "string", "Grouped by what.", enum=GROUPS, default="phase"),
            ),
            **read,
        ),
        ModuleTool(
            "usage_by_dialog", label="Usage of a dialog", execute=usage_by_dialog,
            description="Calls and tokens of one dialog.",
            parameters=(KEY, Parameter("since", "string", "From this day or moment on, as 2026-11-30.")), **read,
        ),
        ModuleTool(
            "estimate_cost", label="Estimate a cost", execute=estimate_cost,
            description="What so many tokens cost, by the prices that were entered.",
            parameters=(
                Parameter("tokens", "integer", "How many.", required=True, minimum=1),
                Parameter("model", "string", "Of which model.", required=True, max_length=200),
                Parameter("provider", "string", "Whose model it is.", enum=PROVIDERS),
            ),
            **read,
        ),
        ModuleTool(
            "set_token_budget", label="Set the token budget", execute=set_token_budget, action="set_price",
            description="How many tokens a day are within the budget.", default_policy="propose", reversible=True,
            parameters=(Parameter("value", "integer", "Tokens a day.", required=True, minimum=1),),
            target=lambda _: deps.usage.prices.budget().as_json(), **shared,
        ),
    )  # fmt: skip


def inverses(desk: Desk) -> Mapping[str, Callable[[Mapping[str, Any]], ToolResult]]:
    """What can be taken back of what was done here."""
    deps = desk.deps

    def former(event: Mapping[str, Any]) -> ToolResult:
        said = event["payload"]
        if deps.usage.prices.budget() != _budget(said, ""):
            raise ConflictError("The budget was changed again since.")
        deps.usage.set_budget(acting(), _budget(said, "before_"))
        return done("The former budget holds again.")

    return {"UsageBudgetSet": former}


def _budget(said: Mapping[str, Any], prefix: str) -> Budget:
    tokens = said.get(f"{prefix}tokens_per_day")
    usd = (amount(said.get(f"{prefix}{name}"), name) for name in ("usd_per_day", "usd_per_month"))
    return Budget(None if tokens is None else int(tokens), *usd)


def _period(desk: Desk, range: str) -> Period:
    if range == "yesterday":
        return desk.period(desk.today() - timedelta(days=1))
    return last_days(RANGES[range], desk.deps.clock.now(), desk.deps.zone)


def _line(line: Line) -> dict[str, Any]:
    cost = plain(line.cost.usd) if line.cost.known else None
    return {"calls": line.tokens.calls, "tokens": line.tokens.total, "cost_usd": cost}
