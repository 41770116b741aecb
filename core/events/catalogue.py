"""Every event there is, with the fields its payload may have. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.events.event import EventClass
from core.events.fields import Field, count, counts, flag, ident, number, word, words


@dataclass(frozen=True)
class EventType:
    """A kind of fact. `audit`: a change or a decision, kept 400 days; `observation`: 90 days, the newest 50,000."""

    name: str
    app_id: str
    event_class: EventClass
    fields: Mapping[str, Field]
    reversible: bool = False

    def fit(self, payload: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
        """The payload with each value checked, and the names of fields whose value did not fit and is left out.

        Fields that are None are left out as not known. Errors: ValueError naming fields that the type does not have:
        a bug of the caller, and the way by which text would slip in.
        """
        unknown = sorted(set(payload) - set(self.fields))
        if unknown:
            raise ValueError(f"{self.name} has no field {', '.join(unknown)}")
        fitting: dict[str, Any] = {}
        unfit: list[str] = []
        for name, value in payload.items():
            if value is None:
                continue
            try:
                fitting[name] = self.fields[name](value)
            except (TypeError, ValueError):
                unfit.append(name)
        return fitting, unfit


def _types(*types: EventType) -> Mapping[str, EventType]:
    return MappingProxyType({t.name: t for t in types})


_SNAPSHOT: Mapping[str, Field] = {
    "snapshot_id": word,
    "dialog_key": ident,
    "entity_type": word,
    "source_role": word,
    "sync_date": word,
}

_TAKEN_OUT: Mapping[str, Field] = {
    "dialog_key": ident,
    "count": count,
    "dialogs": count,
    "by_source": counts,
    "reason": word,
    "kind": word,
}

_DEMO_ROWS: Mapping[str, Field] = {"chunks": count, "snapshots": count, "usage": count, "prices": count}

EVENTS = _types(
    EventType(
        "DialogIngested",
        "memory",
        "audit",
        {
            "dialog_key": ident,
            "upserted": count,
            "total_chunks": count,
            "by_source": counts,
            "model": word,
            "dims": count,
            "duration_ms": number,
            "added": count,
            "unchanged": count,
            "reembedded": count,
            "warnings": count,
        },
    ),
    EventType("IngestEmpty", "memory", "observation", {"dialog_key": ident, "warnings": count}),
    EventType(
        "IngestFailed",
        "memory",
        "observation",
        {"dialog_key": ident, "stage": word, "error_class": word, "field": word},
    ),
    EventType(
        "SearchPerformed",
        "memory",
        "observation",
        {
            "dialog_key": ident,
            "query_hash": word,
            "query_len": count,
            "limit": count,
            "compose_mode": word,
            "results": count,
            "top_score": number,
            "by_source": counts,
            "latency_ms": number,
            "embed_ms": number,
            "fallback": flag,
            "model": word,
            "scope": word,
            "request_id": ident,
            "weights_version": count,
        },
    ),
    EventType("SearchFallbackUsed", "memory", "observation", {"dialog_key": ident, "reason": word}),
    EventType("SearchEmpty", "memory", "observation", {"dialog_key": ident, "query_hash": word}),
    EventType("DemoLoaded", "memory", "audit", {"dialogs": count, **_DEMO_ROWS, "model": word, "duration_ms": number}),
    EventType("DemoRemoved", "memory", "audit", {"dialogs": count, "deleted": count, **_DEMO_ROWS}),
    EventType("ChunksExcluded", "memory", "audit", _TAKEN_OUT, reversible=True),
    EventType("ChunksDeleted", "memory", "audit", _TAKEN_OUT, reversible=True),
    EventType(
        "ChunksRestored",
        "memory",
        "audit",
        {"dialog_key": ident, "count": count, "present": count, "lifted": count},
    ),
    EventType(
        "DialogKeysMerged",
        "memory",
        "audit",
        {
            "merge_id": word,
            "kept_key": ident,
            "dropped_key": ident,
            "mode": word,
            "moved": count,
            "copied": count,
            "dropped": count,
        },
        reversible=True,
    ),
    EventType(
        "MergeUndone", "memory", "audit", {"merge_id": word, "kept_key": ident, "dropped_key": ident, "rows": count}
    ),
    # Names nothing of the person: the erasure that it is about takes its own event along otherwise.
    EventType(
        "DialogErased", "memory", "audit", {"erasure_id": word, "reason": word, "keys": count, "by_table": counts}
    ),
    EventType(
        "SnapshotsCaptured",
        "snapshots",
        "audit",
        {
            "dialog_key": ident,
            "sync_date": word,
            "by_type": counts,
            "inserted": count,
            "updated": count,
            "unchanged": count,
            "kept": count,
            "warnings": count,
        },
    ),
    EventType(
        "SnapshotsCompared",
        "snapshots",
        "observation",
        {"dialog_key": ident, "date_a": word, "date_b": word, "added": count, "removed": count, "changed": count},
    ),
    EventType("SnapshotPinned", "snapshots", "audit", {**_SNAPSHOT, "until": word}),
    EventType("SnapshotUnpinned", "snapshots", "audit", {**_SNAPSHOT, "until": word}),
    EventType(
        "CleanupPreviewed",
        "snapshots",
        "observation",
        {
            "cutoff": word,
            "expired": count,
            "by_type": counts,
            "oldest": word,
            "pinned": count,
            "without_expiry": count,
        },
    ),
    # One per batch, in its transaction; the run's own CleanupRan follows.
    EventType(
        "SnapshotsDeleted", "snapshots", "audit", {"run_id": word, "cutoff": word, "deleted": count, "by_type": counts}
    ),
    EventType(
        "CleanupRan",
        "snapshots",
        "audit",
        {
            "run_id": word,
            "cutoff": word,
            "deleted": count,
            "by_type": counts,
            "batches": count,
            "duration_ms": number,
            "failed": flag,
            "stopped": flag,
        },
    ),
    EventType("CleanupScheduleChanged", "snapshots", "audit", {"confirmed": flag, "expired": count}),
    EventType(
        "ChunksReembedded",
        "memory",
        "audit",
        {
            "dialog_key": ident,
            "from_model": word,
            "to_model": word,
            "count": count,
            "passed_over": count,
            "by_model": counts,
            "stopped": flag,
            "failed": flag,
            "duration_ms": number,
        },
    ),
    EventType("JobStarted", "operations", "audit", {"job_id": word, "kind": word}),
    EventType("JobCancelRequested", "operations", "audit", {"job_id": word, "kind": word}),
    EventType(
        "JobEnded",
        "operations",
        "observation",
        {"job_id": word, "kind": word, "state": word, "done": count, "total": count, "error": word},
    ),
    EventType(
        "TokensLogged",
        "usage",
        "observation",
        {
            "request_id": ident,
            "dialog_key": ident,
            "calls": count,
            "by_phase": counts,
            "provider": word,
            "model": word,
            "prompt": count,
            "completion": count,
            "total": count,
            "estimated": flag,
            "cost": number,
        },
    ),
    EventType(
        "PriceSet",
        "usage",
        "audit",
        {
            "provider": word,
            "model": word,
            "valid_from": word,
            "size_over": count,
            "input_usd": word,
            "output_usd": word,
            "cached_usd": word,
            "before_input_usd": word,
            "before_output_usd": word,
            "before_cached_usd": word,
            "source_date": word,
        },
    ),
    EventType(
        "UsageBudgetSet",
        "usage",
        "audit",
        {
            "tokens_per_day": count,
            "usd_per_day": word,
            "usd_per_month": word,
            "before_tokens_per_day": count,
            "before_usd_per_day": word,
            "before_usd_per_month": word,
        },
    ),
    EventType(
        "PhotoDescribed",
        "memory",
        "audit",
        {
            "dialog_key": ident,
            "photo_hash": word,
            "model": word,
            "added": flag,
            "snapshot": flag,
            "uploaded": flag,
            "duration_ms": number,
        },
    ),
    EventType("PhotoFailed", "memory", "observation", {"dialog_key": ident, "photo_hash": word, "error_class": word}),
    EventType(
        "ChainVerified", "health", "audit", {"ok": flag, "checked": count, "first_bad_seq": count, "reason": word}
    ),
    EventType("MigrationsApplied", "health", "audit", {"versions": words, "count": count, "duration_ms": number}),
    EventType(
        "HealthChecked",
        "health",
        "observation",
        {
            "ok": flag,
            "auth_ok": flag,
            "chunks_ok": flag,
            "snapshots_ok": flag,
            "usage_ok": flag,
            "rpc_ok": flag,
            "latency_ms": number,
            "total_chunks": count,
        },
    ),
    EventType("HealthDegraded", "health", "observation", {"component": word, "status": word, "error_class": word}),
    EventType("HealthRecovered", "health", "observation", {"component": word, "downtime_s": number}),
    EventType("NeedsMigrationDetected", "health", "observation", {"table": word, "code": word}),
    EventType("DestructiveMigrationFlagged", "health", "observation", {"file": word, "statement": word}),
)
