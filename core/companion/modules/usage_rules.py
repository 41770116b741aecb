"""When the operator should hear of usage. Rules look at the day's sections alone."""

from __future__ import annotations

from datetime import timedelta

from core.companion.contract import At, Every, Nudge, OnEvent, Rule, RuleContext


def token_spike(ctx: RuleContext) -> Nudge | None:
    """The last full hour far above the median of the same hour on the 14 days before."""
    usage = ctx.day["usage"]
    spike = usage["spike"]
    if spike is None:
        return None
    factor = spike["factor"]
    high = factor is None or factor > usage["limits"].get("spike_factor_high", 6)
    times = f"{factor:g} times the usual" if factor else "where nothing is usual"
    return Nudge(
        id=f"token-spike-{spike['date']}-{spike['hour']:02d}",
        type="token_spike",
        title="A spike of tokens",
        body=f"{spike['actual']:,} tokens from {spike['hour']:02d} h on, {times} {spike['baseline']:,} of that hour.",
        priority="high" if high else "medium",
        module="usage",
        expires_at=ctx.now + timedelta(hours=12),
        action_label="Look at the hour",
        action_route="usage",
    )


def token_budget(ctx: RuleContext) -> Nudge | None:
    """80 and 100 % of the day's budget, once each."""
    usage = ctx.day["usage"]
    budget, warn = usage["budget"], usage["limits"].get("warn_percent", 80)
    used = [
        (budget[percent], words)
        for percent, words in (
            ("percent", f"{usage['total']:,} of {budget['limit'] or 0:,} tokens"),
            ("usd_percent", f"{usage['cost']:.4g} of {budget['usd_per_day'] or 0:.4g} USD"),
        )
        if budget[percent] is not None
    ]
    if not used:
        return None
    percent, words = max(used)
    if percent < warn:
        return None
    over = percent >= 100
    return Nudge(
        id=f"token-budget-{100 if over else 'warn'}-{ctx.today}",
        type="token_budget",
        title="The day's budget is used up" if over else "The day's budget is nearly used up",
        body=f"{percent:g} %: {words}.",
        priority="high" if over else "low",
        module="usage",
        expires_at=ctx.now.replace(hour=23, minute=59),
        action_label="See what used it",
        action_route="usage",
        action_tool="usage_summary",
        action_params={"range": "today", "group_by": "phase"},
    )


def unknown_models(ctx: RuleContext) -> Nudge | None:
    """Calls of which nobody knows the model, nor so the price."""
    usage = ctx.day["usage"]
    limits, percent = usage["limits"], usage["unknown_percent"]
    if not limits or usage["calls"] < limits["calls_least"] or percent <= limits["unknown_percent"]:
        return None
    return Nudge(
        id=f"unknown-models-{ctx.today}",
        type="unknown_models",
        title="Calls of an unknown model",
        body=f"{percent:g} % of {usage['calls']:,} calls today do not name their model: their cost is not known.",
        priority="high" if percent > limits["unknown_percent_high"] else "medium",
        module="usage",
        expires_at=ctx.now + timedelta(hours=14),
        action_label="See which phases",
        action_route="usage",
    )


def usage_gap(ctx: RuleContext) -> Nudge | None:
    """The service writes chunks and no usage: its errors there are swallowed."""
    written, calls = ctx.day["memory"]["written_elsewhere_6h"], ctx.day["usage"]["calls_6h"]
    if not written or calls:
        return None
    return Nudge(
        id=f"usage-gap-{ctx.today}",
        type="usage_gap",
        title="Usage is not logged",
        body=f"Within six hours the service wrote to {written:,} dialogs, and no call was logged in that time.",
        priority="medium",
        module="usage",
        expires_at=ctx.now + timedelta(hours=12),
        action_label="Open Usage",
        action_route="usage",
    )


RULES = (
    Rule(
        "token-spike",
        "Spike of tokens",
        "Every 15 minutes: the last full hour above three times its median over 14 days, and 10,000 tokens.",
        "usage",
        Every(15),
        token_spike,
        needs=("usage",),
    ),
    Rule(
        "token-budget",
        "Token budget",
        "When calls are logged: 80 % and 100 % of the day's budget.",
        "usage",
        OnEvent(("TokensLogged",)),
        token_budget,
        needs=("usage",),
    ),
    Rule(
        "unknown-models",
        "Unknown models",
        "Daily at 18: calls without a model.",
        "usage",
        At(((18, 0),)),
        unknown_models,
        needs=("usage",),
    ),
    Rule(
        "usage-gap",
        "Usage not logged",
        "Daily at 11: chunks were written by the service and no call was logged.",
        "usage",
        At(((11, 0),)),
        usage_gap,
        needs=("memory", "usage"),
        resolves=lambda ctx, _: ctx.day["usage"]["calls_6h"] > 0,
    ),
)
