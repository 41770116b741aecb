"""Events of snapshots, operations, usage and health. Source: spec/companion.md section 18."""

from __future__ import annotations

from core.events.facts import AUDIT, OBSERVATION
from core.events.facts import fact as _fact
from core.events.facts import room as _of

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
    _fact(
        "SnapshotsSynced",
        OBSERVATION,
        ident="dialog_key",
        word="family",
        day="sync_date",
        counts="by_type",
        count="new changed unchanged",
    ),
    _fact(
        "SnapshotChanged",
        OBSERVATION,
        ident="dialog_key source_id",
        word="entity_type source_role prev_hash new_hash",
        day="prev_date sync_date",
        words="changed_fields",
    ),
    _fact("DailySyncCompleted", OBSERVATION, ident="dialog_key", day="sync_date", moment="completed_at"),
    _fact("DailySyncMissed", OBSERVATION, day="sync_date", count="expected missing", words="dialog_keys"),
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
        # Of a busy day's rows that are summed up by hour: which hour, and how many requests.
        moment="hour",
        count="calls prompt completion total requests unknown_calls estimated_calls",
        counts="by_phase by_model",
        number="cost",
        flag="estimated",
    ),
    _fact("TokenBudgetExceeded", OBSERVATION, day="date", number="limit actual"),
    _fact("CostLimitExceeded", OBSERVATION, day="date", number="limit actual"),
    _fact("TokenSpikeDetected", OBSERVATION, day="date", count="hour", number="actual baseline factor"),
    _fact("UnknownModelShareHigh", OBSERVATION, day="date", count="calls unknown", number="share"),
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
