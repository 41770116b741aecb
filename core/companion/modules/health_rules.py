"""When the operator should hear of health. Rules look at the day's sections, and at the event that woke them."""

from __future__ import annotations

from datetime import timedelta

from core.companion.contract import Every, Nudge, OnEvent, Rule, RuleContext


def needs_migration(ctx: RuleContext) -> Nudge | None:
    """A table or function of ours is missing."""
    woken = ctx.event is not None and ctx.event.type == "NeedsMigrationDetected"
    if not woken and ctx.day["health"]["status"] != "needs_migration":
        return None
    return Nudge(
        id=f"needs-migration-{ctx.today}",
        type="needs_migration",
        title="The database needs a migration",
        body="Tables or functions of this version are missing. Run `python -m core migrate`.",
        priority="high",
        module="health",
        expires_at=ctx.now + timedelta(days=1),
        action_label="Open Health",
        action_route="health",
    )


def destructive_migration(ctx: RuleContext) -> Nudge | None:
    """A pending migration would empty a table of memory, snapshots or usage."""
    said = ctx.event.payload if ctx.event else {}
    file = said.get("file")
    if not file:
        return None
    return Nudge(
        id=f"destructive-migration-{file}",
        type="destructive_migration",
        title="A pending migration would empty a table",
        body=f"{file} would {str(said.get('statement') or 'empty').replace('-', ' ')} a table of memory.",
        priority="high",
        module="health",
        action_label="Look at the migrations",
        action_route="health",
    )


def health_down(ctx: RuleContext) -> Nudge | None:
    """A component is no longer well; its recovery takes the nudge away."""
    if ctx.event is None:
        return None
    component = str(ctx.event.payload.get("component") or "unknown")
    status = str(ctx.event.payload.get("status") or "degraded")
    return Nudge(
        id=f"health-down:{component}:{ctx.event.meta.timestamp:%Y%m%d%H%M%S}",
        type="health_down",
        title="A component is not well",
        body=f"{component.replace('_', ' ').capitalize()} is {status}.",
        priority="high",
        module="health",
        expires_at=ctx.now + timedelta(days=1),
        action_label="Open Health",
        action_route="health",
    )


def recovered(ctx: RuleContext, id: str) -> bool:
    """Whether the component of a nudge is well again; one that is no longer known says nothing."""
    return ctx.day["health"]["components"].get(id.split(":")[1]) == "ok"


def _migrated(ctx: RuleContext, _: str) -> bool:
    return ctx.day["health"]["status"] not in ("needs_migration", "unknown")


def _harmless(ctx: RuleContext, id: str) -> bool:
    return id.removeprefix("destructive-migration-") not in ctx.day["health"]["destructive_migrations"]


RULES = (
    Rule(
        "needs-migration",
        "Migration needed",
        "When a table or function is found missing.",
        "health",
        OnEvent(("NeedsMigrationDetected",)),
        needs_migration,
        resolves=_migrated,
        learnable=False,
    ),
    Rule(
        "needs-migration-look",
        "Migration needed, looked for",
        "Every 5 minutes: the same, at most once a day.",
        "health",
        Every(5),
        needs_migration,
        needs=("health",),
        resolves=_migrated,
        learnable=False,
    ),
    Rule(
        "destructive-migration",
        "Destructive migration",
        "When a pending migration would empty a table.",
        "health",
        OnEvent(("DestructiveMigrationFlagged",)),
        destructive_migration,
        resolves=_harmless,
        learnable=False,
    ),
    Rule(
        "health-down",
        "Component not well",
        "When a component degrades; taken back by itself when it is well again.",
        "health",
        OnEvent(("HealthDegraded",)),
        health_down,
        resolves=recovered,
        learnable=False,
    ),
)
