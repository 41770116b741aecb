"""Every event there is, with the fields its payload may have. Source: spec/companion.md sections 1 and 18."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from core.events.access_room import ACCESS, VIEWS
from core.events.companion_room import COMPANION
from core.events.desk_rooms import HEALTH, OPERATIONS, SNAPSHOTS, USAGE
from core.events.event_type import EventType
from core.events.facts import AUDIT, OBSERVATION
from core.events.facts import fact as _fact
from core.events.facts import room as _of
from core.events.label_room import LABELS
from core.events.pilot_rooms import PILOT
from core.events.tuning_room import PROFILES

MEMORY = _of(
    "memory",
    _fact(
        "DialogIngested",
        AUDIT,
        ident="dialog_key",
        word="model",
        moment="bucket",  # of rows that another service wrote: the five minutes in which
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
        "EmbeddingRecipeSwitched",
        AUDIT,
        word="from_model to_model recipe",
        count="chunks embedded",
        number="duration_ms",
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
    _fact(
        "WrongContextReported",
        AUDIT,
        ident="dialog_key request_id",
        word="query_hash reason report_id",
        words="chunk_ids",
        reversible=True,
    ),
    _fact("WrongContextWithdrawn", AUDIT, ident="dialog_key request_id", word="report_id"),
    _fact("RetrievalRetentionChanged", AUDIT, count="days before_days"),
    _fact("PhotoTextMissing", OBSERVATION, ident="dialog_key", count="photos described"),
    _fact("DialogKeyAmbiguous", OBSERVATION, ident="key_new key_legacy", count="chunks_new chunks_legacy"),
)

EVENTS: Mapping[str, EventType] = MappingProxyType(
    {
        known.name: known
        for rooms in (MEMORY, SNAPSHOTS, OPERATIONS, USAGE, HEALTH, PILOT, COMPANION, PROFILES, LABELS, ACCESS, VIEWS)
        for known in rooms
    }
)
