"""Writing to the memory by name: what upstream delivered, and chunks of another model. Each is a job.

Source: spec/companion.md section 18.
"""

from __future__ import annotations

from datetime import date
from typing import Any

from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.companion.modules.memory_corrections import corrections
from core.companion.modules.memory_reads import RU, TU, of_pair, reads
from core.memory.keys import both_keys
from core.memory.sources import KEY_LIMIT
from core.services.snapshot_source import SnapshotSource


def tools(desk: Desk) -> tuple[ModuleTool, ...]:
    return (*reads(desk), *_changes(desk), *corrections(desk))


def _changes(desk: Desk) -> tuple[ModuleTool, ...]:
    deps, source = desk.deps, SnapshotSource(desk.deps.db, desk.deps.snapshots.reads)

    def key_of(given: Params) -> str | None:
        key = given.get("dialog_key")
        if key is None and "ru_id" in given and "tu_id" in given:
            return both_keys(given["ru_id"], given["tu_id"])[0]
        return None if key is None else str(key)

    def snapshot_day(given: Params) -> date | None:
        """The day that is meant, None where the dialog has no snapshot then."""
        asked = str(given["payload_ref"]).removeprefix("snapshot:")
        day = None if asked == "latest" else date.fromisoformat(asked)
        found = deps.snapshots.reads.entities(day, key_of(given), limit=25).rows
        days = [row.sync_date for row in found if row.entity_type != "daily_sync"]
        return date.fromisoformat(max(days)) if days else None

    def ingest_refusal(given: Params) -> str | None:
        if key_of(given) is None:
            return "Name dialog_key, or ru_id and tu_id."
        try:
            return None if snapshot_day(given) else "There are no snapshots of this dialog to ingest."
        except ValueError:
            return "payload_ref names no day."

    def ingest_target(given: Params) -> Any:
        key, day = str(key_of(given)), snapshot_day(given)
        rows = deps.snapshots.reads.entities(day, key, limit=1_000).rows if day else ()
        return {"key": key, "day": day, "hashes": sorted(str(row.content_hash) for row in rows)}

    def ingest(given: Params) -> ToolResult:
        if refused := ingest_refusal(given):
            return ToolResult(False, refused)
        day = snapshot_day(given)
        assert day is not None
        body = source.body(str(key_of(given)), day).body
        job = deps.intake.start(deps.intake.stage_body(f"snapshots of {day}", body), windows=True)
        return done(f"The ingest of the snapshots of {day} was started.", {"job_id": job.id}, {"job_id": job.id})

    def reembed_refusal(given: Params) -> str | None:
        found = deps.reembed.preview(given.get("dialog_key"), measure=False)
        if not found.chunks:
            return "There is no chunk of another model."
        if "limit" in given and found.chunks > given["limit"]:
            return f"{found.chunks:,} chunks would be embedded, more than {given['limit']:,}."
        return found.confirm

    def reembed_target(given: Params) -> Any:
        found = deps.reembed.preview(given.get("dialog_key"), measure=False)
        return {"model": found.model, "chunks": found.chunks, "cost": found.cost_usd}

    def reembed(given: Params) -> ToolResult:
        if refused := reembed_refusal(given):
            return ToolResult(False, refused)
        job = deps.reembed.start(dialog_key=given.get("dialog_key"))
        facts = {"job_id": job.id, "chunks": job.params.get("chunks")}
        return done(f"Embedding {facts['chunks']:,} chunks again was started.", facts, facts)

    shared: dict[str, Any] = {"module": "memory", "default_policy": "propose"}
    return (
        ModuleTool(
            "ingest_dialog", label="Ingest a dialog's snapshots", execute=ingest, action="ingest",
            description="Write what upstream delivered of a dialog on one day into the memory, as a job.",
            content_class="sensitive",
            parameters=(
                Parameter("dialog_key", "string", "The key of the dialog.", max_length=KEY_LIMIT), RU, TU,
                Parameter("payload_ref", "string", "snapshot:latest, or snapshot: and a day as 2026-11-30.",
                          required=True, pattern=r"snapshot:(latest|\d{4}-\d{2}-\d{2})"),
            ),
            expires_h=24, also=("snapshots",), refuse=ingest_refusal, target=ingest_target, dialogs=of_pair, **shared,
        ),
        ModuleTool(
            "reembed_chunks", label="Embed chunks again", execute=reembed, action="reembed",
            description="Embed chunks that another model made with the model in use, as a job: of a dialog or of all.",
            content_class="personal",
            parameters=(
                Parameter("dialog_key", "string", "Only this dialog.", max_length=KEY_LIMIT),
                Parameter("limit", "integer", "Refuse where more chunks would be embedded.", minimum=1),
            ),
            refuse=reembed_refusal, target=reembed_target, **shared,
        ),
    )  # fmt: skip
