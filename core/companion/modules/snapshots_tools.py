"""What can be done with snapshots by name. `llm_data` holds counts, dates and names of fields, never a payload.

Source: spec/companion.md section 18.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.companion.modules.memory_reads import KEY
from core.errors import InputError

DAY = r"\d{4}-\d{2}-\d{2}"
TYPES = ("profile", "photo", "note", "dialog", "daily_sync")
TYPE = Parameter("type", "string", "Only this type.", enum=TYPES)
PREVIEW_AGE = timedelta(minutes=15)
LISTED = 100
COMPARED = 1_000


def tools(desk: Desk) -> tuple[ModuleTool, ...]:
    return (*_reads(desk), *_cleanup(desk))


def _reads(desk: Desk) -> tuple[ModuleTool, ...]:
    reads = desk.deps.snapshots.reads

    def snapshot_status(given: Params) -> ToolResult:
        day = _day(given["date"]) if "date" in given else desk.today()
        total, expiry = reads.days(day, day)[0], reads.expiry()
        facts = {"date": day.isoformat(), "entities": total.entities, "dialogs": total.dialogs}
        facts |= {"complete": total.complete, "partial": total.partial, "expected": total.expected}
        facts |= {"expired": expiry.expired, "expiring_24h": expiry.expiring_24h, "pinned": expiry.pinned}
        words = "Nothing is known of this day." if total.dialogs is None else f"{total.dialogs:,} dialogs came."
        return done(words, facts, facts)

    def list_snapshots(given: Params) -> ToolResult:
        day = _day(given["date"]) if "date" in given else None
        found = reads.entities(day, given["dialog_key"], entity_type=given.get("type"), limit=LISTED)
        bare = [{"date": r.sync_date, "type": r.entity_type, "role": r.source_role} for r in found.rows]
        facts = {"total": found.total, "by_type": dict(found.by_type)}
        full = [{**one, "source_id": r.source_id, "text": r.text} for one, r in zip(bare, found.rows, strict=True)]
        words = f"{found.total:,} snapshots, {len(bare):,} listed."
        return done(words, {**facts, "rows": full}, {**facts, "rows": bare})

    def compare_snapshots(given: Params) -> ToolResult:
        days = (_day(given["date_a"]), _day(given["date_b"]))
        found = desk.deps.snapshots.diff(given["dialog_key"], *days, limit=COMPARED)
        rows = [row for row in found.rows if given.get("type") in (None, row.entity_type)]
        changes = Counter((row.entity_type, row.change) for row in rows)
        fields = Counter((row.entity_type, str(f.path[0])) for row in rows for f in row.fields if f.path)
        facts = {
            "changes": [{"type": t, "change": c, "count": n} for (t, c), n in sorted(changes.items())],
            "fields": [{"type": t, "field": f, "count": n} for (t, f), n in sorted(fields.items())],
        }
        full = [row.as_json() | {"change": row.change} for row in rows]
        words = f"{len(rows):,} entities differ between the two days."
        return done(words, {**facts, "rows": full}, facts)

    shared: dict[str, Any] = {"module": "snapshots", "default_policy": "auto", "read_only": True, "action": "snapshots"}
    when = Parameter("date", "string", "A day as 2026-11-30.", pattern=DAY)
    return (
        ModuleTool(
            "snapshot_status", label="Snapshots of a day", execute=snapshot_status,
            description="How many dialogs and entities came on a day, how many were due, and what is expired now.",
            content_class="personal", parameters=(when,), **shared,
        ),
        ModuleTool(
            "list_snapshots", label="Snapshots of a dialog", execute=list_snapshots,
            description="The snapshots of one dialog. A model gets days, types and roles alone.",
            content_class="sensitive", parameters=(KEY, when, TYPE), **shared,
        ),
        ModuleTool(
            "compare_snapshots", label="Compare two days", execute=compare_snapshots,
            description="What changed in a dialog between two days. A model gets names of fields and counts alone.",
            content_class="sensitive",
            parameters=(
                KEY,
                Parameter("date_a", "string", "The earlier day.", required=True, pattern=DAY),
                Parameter("date_b", "string", "The later day.", required=True, pattern=DAY),
                TYPE,
            ),
            **shared,
        ),
    )  # fmt: skip


def _cleanup(desk: Desk) -> tuple[ModuleTool, ...]:
    deps = desk.deps

    def preview_cleanup(given: Params) -> ToolResult:
        now = deps.clock.now()
        cutoff = _moment(given["cutoff"]) if "cutoff" in given else now
        if cutoff is None or cutoff > now:
            return ToolResult(False, "cutoff is no moment of the past.")
        found = deps.snapshots.preview(cutoff)
        id = str(uuid.uuid4())
        facts = {"cutoff": found.cutoff, "expired": found.expired, "by_type": dict(found.by_type)}
        kept = {"p_id": id, "p_kind": "cleanup", "p_facts": facts, "p_now": now.isoformat()}
        deps.db.rpc("companion_note_preview", kept, read=False)
        shown = {"preview_id": id, "expected_count": found.expired, **facts, "oldest": found.oldest}
        shown |= {"pinned": found.pinned_expired, "valid_until": (now + PREVIEW_AGE).isoformat()}
        return done(f"{found.expired:,} snapshots would be deleted.", shown, shown)

    def preview_of(given: Params) -> Mapping[str, Any] | None:
        try:
            id = str(uuid.UUID(given["preview_id"]))
        except ValueError:
            return None
        where = {"id": id, "kind": "cleanup"}
        rows = deps.db.sample("companion_previews", "id,kind,facts,created_at", order="id", limit=1, where=where)
        return rows[0] if rows else None

    def expired_now(preview: Mapping[str, Any]) -> Any:
        return deps.snapshots.reads.expiry(datetime.fromisoformat(preview["facts"]["cutoff"]))

    def refusal(given: Params) -> str | None:
        preview = preview_of(given)
        if preview is None:
            return "There is no such preview. Make one first."
        if deps.clock.now() - datetime.fromisoformat(preview["created_at"]) > PREVIEW_AGE:
            return "The preview is older than 15 minutes. Make it again."
        counts = {preview["facts"]["expired"], expired_now(preview).expired, given["expected_count"]}
        if len(counts) > 1:
            return (
                "The counts differ: expected_count, the preview and the snapshots that are expired now. Preview again."
            )
        return None if given["expected_count"] else "No snapshot is expired."

    def target(given: Params) -> Any:
        preview = preview_of(given)
        found = expired_now(preview) if preview else None
        return found and {"cutoff": found.cutoff, "expired": found.expired, "by_type": dict(found.by_type)}

    def run_cleanup(given: Params) -> ToolResult:
        preview = preview_of(given)
        if preview is None:
            return ToolResult(False, "The preview is no longer kept. Make it again.")
        cutoff = datetime.fromisoformat(preview["facts"]["cutoff"])
        gone = deps.snapshots.cleanup_previewed(cutoff, given["expected_count"])
        facts = {"deleted": gone.deleted, "by_type": dict(gone.by_type), "batches": gone.batches}
        return done(f"{gone.deleted:,} expired snapshots were deleted.", facts, facts)

    return (
        ModuleTool(
            "preview_cleanup", "snapshots", "Count expired snapshots",
            "Count what a clean-up would delete. Its preview_id and expected_count are what run_cleanup needs.",
            preview_cleanup, "snapshots", "auto", "personal",
            (Parameter("cutoff", "string", "Only what had expired by then: a moment with a zone, not after now."),),
            read_only=True,
        ),
        ModuleTool(
            "run_cleanup", "snapshots", "Delete expired snapshots",
            "Delete exactly what a preview counted, in batches of 1,000. It cannot be undone.",
            run_cleanup, "snapshots_cleanup", "propose", "personal",
            (
                Parameter("preview_id", "string", "The preview_id of preview_cleanup.", required=True),
                Parameter("expected_count", "integer", "Its expected_count.", required=True, minimum=0),
            ),
            once_per_plan=True, expires_h=24, refuse=refusal, target=target,
        ),
    )  # fmt: skip


def _day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise InputError("This is no day.", hint="Write it as 2026-11-30.", field="date") from None


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None
