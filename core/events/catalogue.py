"""Every event there is, with the fields its payload may have. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from core.events import fields
from core.events.event import EventClass
from core.events.event_type import EventType

AUDIT: Final[EventClass] = "audit"
OBSERVATION: Final[EventClass] = "observation"

KINDS: Mapping[str, fields.Field] = {
    "ident": fields.ident,
    "word": fields.word,
    "words": fields.words,
    "title": fields.title,
    "count": fields.count,
    "counts": fields.counts,
    "number": fields.number,
    "flag": fields.flag,
}


def _fact(name: str, event_class: EventClass, *, reversible: bool = False, **named: str) -> Callable[[str], EventType]:
    """An event type without its room yet: per kind of field the names of the fields, apart by spaces."""
    known = {field: KINDS[kind] for kind, names in named.items() for field in names.split()}
    return lambda app_id: EventType(name, app_id, event_class, MappingProxyType(known), reversible)


def _of(app_id: str, *facts: Callable[[str], EventType]) -> tuple[EventType, ...]:
    return tuple(fact(app_id) for fact in facts)


MEMORY = _of(
    "memory",
    _fact(
        "DialogIngested",
        AUDIT,
        ident="dialog_key",
        word="model",
        count="upserted total_chunks dims added unchanged reembedded warnings",
        counts="by_source",
        number="duration_ms",
    ),
    _fact("IngestEmpty", OBSERVATION, ident="dialog_key", count="warnings"),
    _fact("IngestFailed", OBSERVATION, ident="dialog_key", word="stage error_class field"),
    _fact(
        "SearchPerformed",
        OBSERVATION,
        ident="dialog_key request_id",
        word="query_hash compose_mode model scope",
        count="query_len limit results weights_version",
        counts="by_source",
        number="top_score latency_ms embed_ms",
        flag="fallback",
    ),
    _fact("SearchFallbackUsed", OBSERVATION, ident="dialog_key", word="reason"),
    _fact("SearchEmpty", OBSERVATION, ident="dialog_key", word="query_hash"),
    _fact("DemoLoaded", AUDIT, word="model", count="dialogs chunks snapshots usage prices", number="duration_ms"),
    _fact("DemoRemoved", AUDIT, count="dialogs deleted chunks snapshots usage prices"),
    _fact(
        "ChunksExcluded",
        AUDIT,
        ident="dialog_key",
        word="reason kind",
        count="count dialogs",
        counts="by_source",
        reversible=True,
    ),
    _fact(
        "ChunksDeleted",
        AUDIT,
        ident="dialog_key",
        word="reason kind",
        count="count dialogs",
        counts="by_source",
        reversible=True,
    ),
    _fact("ChunksRestored", AUDIT, ident="dialog_key", count="count present lifted"),
    _fact(
        "DialogKeysMerged",
        AUDIT,
        ident="kept_key dropped_key",
        word="merge_id mode",
        count="moved copied dropped",
        reversible=True,
    ),
    _fact("MergeUndone", AUDIT, ident="kept_key dropped_key", word="merge_id", count="rows"),
    # Names nothing of the person: the erasure that it is about takes its own event along otherwise.
    _fact("DialogErased", AUDIT, word="erasure_id reason", count="keys", counts="by_table"),
    _fact(
        "ChunksReembedded",
        AUDIT,
        ident="dialog_key",
        word="from_model to_model",
        count="count passed_over",
        counts="by_model",
        number="duration_ms",
        flag="stopped failed",
    ),
    _fact(
        "PhotoDescribed",
        AUDIT,
        ident="dialog_key",
        word="photo_hash model",
        number="duration_ms",
        flag="added snapshot uploaded",
    ),
    _fact("PhotoFailed", OBSERVATION, ident="dialog_key", word="photo_hash error_class"),
)

SNAPSHOTS = _of(
    "snapshots",
    _fact(
        "SnapshotsCaptured",
        AUDIT,
        ident="dialog_key",
        word="sync_date",
        count="inserted updated unchanged kept warnings",
        counts="by_type",
    ),
    _fact("SnapshotsCompared", OBSERVATION, ident="dialog_key", word="date_a date_b", count="added removed changed"),
    _fact("SnapshotPinned", AUDIT, ident="dialog_key", word="snapshot_id entity_type source_role sync_date until"),
    _fact("SnapshotUnpinned", AUDIT, ident="dialog_key", word="snapshot_id entity_type source_role sync_date until"),
    _fact(
        "CleanupPreviewed", OBSERVATION, word="cutoff oldest", count="expired pinned without_expiry", counts="by_type"
    ),
    # One per batch, in its transaction; the run's own CleanupRan follows.
    _fact("SnapshotsDeleted", AUDIT, word="run_id cutoff", count="deleted", counts="by_type"),
    _fact(
        "CleanupRan",
        AUDIT,
        word="run_id cutoff",
        count="deleted batches",
        counts="by_type",
        number="duration_ms",
        flag="failed stopped",
    ),
    _fact("CleanupScheduleChanged", AUDIT, count="expired", flag="confirmed"),
)

OPERATIONS = _of(
    "operations",
    _fact("JobStarted", AUDIT, word="job_id kind"),
    _fact("JobCancelRequested", AUDIT, word="job_id kind"),
    _fact("JobEnded", OBSERVATION, word="job_id kind state error", count="done total"),
)

USAGE = _of(
    "usage",
    _fact(
        "TokensLogged",
        OBSERVATION,
        ident="request_id dialog_key",
        word="provider model",
        count="calls prompt completion total",
        counts="by_phase",
        number="cost",
        flag="estimated",
    ),
    _fact(
        "PriceSet",
        AUDIT,
        word="provider model valid_from input_usd output_usd cached_usd "
        "before_input_usd before_output_usd before_cached_usd source_date",
        count="size_over",
    ),
    _fact(
        "UsageBudgetSet",
        AUDIT,
        word="usd_per_day usd_per_month before_usd_per_day before_usd_per_month",
        count="tokens_per_day before_tokens_per_day",
    ),
)

HEALTH = _of(
    "health",
    _fact("ChainVerified", AUDIT, word="reason", count="checked first_bad_seq", flag="ok"),
    _fact("MigrationsApplied", AUDIT, words="versions", count="count", number="duration_ms"),
    _fact(
        "HealthChecked",
        OBSERVATION,
        count="total_chunks",
        number="latency_ms",
        flag="ok auth_ok chunks_ok snapshots_ok usage_ok rpc_ok",
    ),
    _fact("HealthDegraded", OBSERVATION, word="component status error_class"),
    _fact("HealthRecovered", OBSERVATION, word="component", number="downtime_s"),
    _fact("NeedsMigrationDetected", OBSERVATION, word="table code"),
    _fact("DestructiveMigrationFlagged", OBSERVATION, word="file statement"),
)

EVENTS: Mapping[str, EventType] = MappingProxyType(
    {known.name: known for known in (*MEMORY, *SNAPSHOTS, *OPERATIONS, *USAGE, *HEALTH)}
)
