"""When the operator should hear of the memory. Rules look at the day's sections alone."""

from __future__ import annotations

from datetime import timedelta

from core.companion.contract import At, Every, Nudge, OnEvent, Rule, RuleContext


def stale_embeddings(ctx: RuleContext) -> Nudge | None:
    """Chunks that no search finds, as another model made them."""
    memory = ctx.day["memory"]
    stale = memory["stale_model_chunks"]
    if not memory["model"] or not stale:
        return None
    percent = memory["stale_model_percent"]
    return Nudge(
        id=f"stale-embeddings-{ctx.today}",
        type="stale_embeddings",
        title="Chunks of another embedding model",
        body=f"{stale:,} chunks ({percent:g} %) are not of {memory['model']}: no search finds them.",
        priority="high" if percent > memory["limits"]["stale_percent"] else "medium",
        module="memory",
        expires_at=ctx.now + timedelta(days=7),
        action_label="See what it would take",
        action_route="operations",
    )


def key_ambiguity(ctx: RuleContext) -> Nudge | None:
    """Pairs whose chunks stand under both orders of their key."""
    pairs = ctx.day["memory"]["ambiguous_dialogs"]
    if not pairs:
        return None
    are = "pair has chunks under both orders of its key" if pairs == 1 else "pairs have chunks under both key orders"
    return Nudge(
        id=f"key-ambiguity-{ctx.today}",
        type="key_ambiguity",
        title="Dialogs under two keys",
        body=f"{pairs:,} {are}: a search sees one of them only.",
        priority="high",
        module="memory",
        expires_at=ctx.now + timedelta(days=1),
        action_label="Compare the keys",
        action_route="operations",
    )


def search_degraded(ctx: RuleContext) -> Nudge | None:
    """Too many searches by words alone, or too slow ones, within the last hour."""
    memory = ctx.day["memory"]
    hour, limits = memory["hour"], memory["limits"]
    if not limits or hour["searches"] < limits["searches_least"]:
        return None
    by_words = hour["fallback_percent"] > limits["fallback_percent"]
    slow = hour["p95_ms"] is not None and hour["p95_ms"] > 2 * limits["p95_ms"]
    if not by_words and not slow:
        return None
    said = [f"{hour['fallback_percent']:g} % of {hour['searches']:,} searches went by words alone"] if by_words else []
    said += [f"one in twenty took {hour['p95_ms']:,.0f} ms or longer"] if slow else []
    return Nudge(
        id=f"search-degraded-{ctx.today}-{ctx.hour}",
        type="search_degraded",
        title="Search is not as it should be",
        body=f"Within the last hour {' and '.join(said)}.",
        priority="high",
        module="memory",
        expires_at=ctx.now + timedelta(hours=2),
        action_label="Open Health",
        action_route="health",
    )


def empty_dialog(ctx: RuleContext) -> Nudge | None:
    """A search in a dialog of which snapshots came and no chunk was ever written."""
    key = ctx.event.payload.get("dialog_key") if ctx.event else None
    if key is None or key not in ctx.day["memory"]["never_ingested"]:
        return None
    return Nudge(
        id=f"empty-dialog-{ctx.today}:{key}",
        type="empty_dialog",
        title="A dialog that was never ingested",
        body="It was searched, has snapshots and no chunk: what upstream delivered never reached the memory.",
        priority="medium",
        module="memory",
        expires_at=ctx.now + timedelta(days=1),
        action_label="Ingest its latest snapshots",
        action_route="operations",
        action_tool="ingest_dialog",
        action_params={"dialog_key": key, "payload_ref": "snapshot:latest"},
    )


def photo_text_missing(ctx: RuleContext) -> Nudge | None:
    """Photos of which the memory knows an address and nothing else."""
    photos = ctx.day["memory"]["photos_without_text"]
    if not photos:
        return None
    return Nudge(
        id=f"photo-text-missing-{ctx.today}",
        type="photo_text_missing",
        title="Photos without words",
        body=f"Of {photos:,} photos the memory holds the address alone: no search finds what is on them.",
        priority="low",
        module="memory",
        expires_at=ctx.now + timedelta(days=7),
        action_label="Look at them",
        action_route="operations",
    )


RULES = (
    Rule(
        "stale-embeddings",
        "Chunks of another model",
        "Mondays at 9: chunks that the model in use did not embed.",
        "memory",
        At(((9, 0),), weekday=0),
        stale_embeddings,
        needs=("memory",),
        resolves=lambda ctx, _: not ctx.day["memory"]["stale_model_chunks"],
    ),
    Rule(
        "key-ambiguity",
        "Dialogs under two keys",
        "Daily at 9:30: pairs with chunks under both orders of their key.",
        "memory",
        At(((9, 30),)),
        key_ambiguity,
        needs=("memory",),
        resolves=lambda ctx, _: not ctx.day["memory"]["ambiguous_dialogs"],
        learnable=False,
    ),
    Rule(
        "search-degraded",
        "Search degraded",
        "Every 15 minutes: many searches by words alone, or slow ones, in the last hour.",
        "memory",
        Every(15),
        search_degraded,
        needs=("memory",),
        resolves=lambda ctx, _: search_degraded(ctx) is None,
        learnable=False,
    ),
    Rule(
        "empty-dialog",
        "Dialog never ingested",
        "When a search finds nothing in a dialog that has snapshots and no chunk.",
        "memory",
        OnEvent(("SearchEmpty",)),
        empty_dialog,
        needs=("memory",),
        resolves=lambda ctx, id: id.partition(":")[2] not in ctx.day["memory"]["never_ingested"],
    ),
    Rule(
        "photo-text-missing",
        "Photos without words",
        "Mondays at 9: photo chunks that hold only an address.",
        "memory",
        At(((9, 0),), weekday=0),
        photo_text_missing,
        needs=("memory",),
        resolves=lambda ctx, _: not ctx.day["memory"]["photos_without_text"],
    ),
)
