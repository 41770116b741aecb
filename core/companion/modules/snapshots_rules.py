"""When the operator should hear of snapshots. Rules look at the day's sections alone."""

from __future__ import annotations

from datetime import timedelta

from core.companion.contract import At, Nudge, OnEvent, Priority, Rule, RuleContext

AFTERNOON = 16


def expired_snapshots(ctx: RuleContext) -> Nudge | None:
    """What clean-up would delete, once a day."""
    found = ctx.day["snapshots"]
    expired, limits = found["expired"], found["limits"]
    if not expired or not limits:
        return None
    days = (found["oldest_expired_age_h"] or 0) / 24
    priority: Priority = "low"
    if expired > limits["expired_flood"] or days > limits["expired_ancient_days"]:
        priority = "high"
    elif expired > limits["expired_many"] or days > limits["expired_old_days"]:
        priority = "medium"
    return Nudge(
        id=f"expired-snapshots-{ctx.today}",
        type="expired_snapshots",
        title="Expired snapshots",
        body=f"{expired:,} snapshots are past their expiry; the oldest for {_age(found['oldest_expired_age_h'])}.",
        priority=priority,
        module="snapshots",
        expires_at=ctx.now + timedelta(days=1),
        action_label="Count them",
        action_route="snapshots",
        action_tool="preview_cleanup",
    )


def daily_sync_missing(ctx: RuleContext) -> Nudge | None:
    """Dialogs whose sync is due today and has not come."""
    found = ctx.day["snapshots"]
    missing = found["missing"]
    if not missing:
        return None
    twice = found["missing_yesterday"] > 0
    after = " Yesterday some were missing too." if twice else ""
    return Nudge(
        id=f"daily-sync-missing-{ctx.today}-{'16' if ctx.hour >= AFTERNOON else '10'}",
        type="daily_sync_missing",
        title="The daily sync is missing",
        body=f"Of {found['expected']:,} dialogs whose sync is due, {missing:,} have none today.{after}",
        priority="high" if twice else "medium" if ctx.hour >= AFTERNOON else "low",
        module="snapshots",
        expires_at=ctx.now + timedelta(hours=12),
        action_label="Look at the coverage",
        action_route="snapshots",
    )


def _age(hours: float | None) -> str:
    whole = int(hours or 0)
    return f"{whole // 24:,} days" if whole >= 48 else f"{whole} hours"


def _clean(ctx: RuleContext, _: str) -> bool:
    return not ctx.day["snapshots"]["expired"]


RULES = (
    Rule(
        "expired-snapshots",
        "Expired snapshots",
        "Daily at 9: snapshots that clean-up would delete.",
        "snapshots",
        At(((9, 0),)),
        expired_snapshots,
        needs=("snapshots",),
        resolves=_clean,
    ),
    Rule(
        "expired-snapshots-synced",
        "Expired snapshots, after a sync",
        "When snapshots come: the same, at most once a day.",
        "snapshots",
        OnEvent(("SnapshotsSynced",)),
        expired_snapshots,
        needs=("snapshots",),
        resolves=_clean,
    ),
    Rule(
        "daily-sync-missing",
        "Daily sync missing",
        "Daily at 10 and 16: dialogs that were synced within three days and not today.",
        "snapshots",
        At(((10, 0), (16, 0))),
        daily_sync_missing,
        needs=("snapshots",),
        resolves=lambda ctx, _: not ctx.day["snapshots"]["missing"],
    ),
)
