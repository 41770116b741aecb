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
    EventType(
        "DemoLoaded", "memory", "audit", {"dialogs": count, "chunks": count, "model": word, "duration_ms": number}
    ),
    EventType("DemoRemoved", "memory", "audit", {"dialogs": count, "chunks": count, "deleted": count}),
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
