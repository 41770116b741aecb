"""Corrections of the memory by name, and what can be taken back of them. Source: spec/companion.md section 18."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.companion.modules.memory_reads import KEY
from core.errors import NotFound
from core.memory.merges import MergeStore
from core.memory.sources import KEY_LIMIT
from core.retrievals.record import WRONG

BATCH = 500


def corrections(desk: Desk) -> tuple[ModuleTool, ...]:
    deps, merges = desk.deps, MergeStore(desk.deps.db)

    def delete_dialog_memory(given: Params) -> ToolResult:
        if given["confirm"] != given["dialog_key"]:
            return ToolResult(False, "confirm is not the key of the dialog.")
        gone = 0
        while rows := deps.dialogs.chunks(given["dialog_key"], limit=BATCH).rows:
            gone += deps.corrections.exclude([row.id for row in rows], "other", kind="deleted").count
        if not gone:
            return ToolResult(False, "This dialog has no chunk.")
        return done(f"{gone:,} chunks were deleted; for 14 days they can be put back.", {"chunks": gone})

    def merge_refusal(given: Params) -> str | None:
        if given["kept"] == given["dropped"]:
            return "A key cannot be merged with itself."
        found = merges.preview(given["kept"], given["dropped"])
        if found.different_pairs:
            return "The keys belong to different pairs."
        return None if found.rows else "Nothing stands under the key that is to go."

    def merge_target(given: Params) -> Any:
        found = merges.preview(given["kept"], given["dropped"])
        sides = {side.dialog_key: [side.chunks, side.last_write_at] for side in (found.kept, found.dropped)}
        # Without our own notes about the dialog: this proposal itself is one of them, and each search another.
        others = {name: n for name, n in found.other_tables.items() if not name.startswith(("companion_", "memory_"))}
        return {"sides": sides, "others": others, "clashes": found.clashes}

    def merge(given: Params) -> ToolResult:
        merged = deps.merges.merge(given["kept"], given["dropped"])
        facts = {"merge_id": merged.merge_id, "moved": merged.count("moved"), "dropped": merged.count("lost")}
        return done(f"{facts['moved']:,} rows have the kept key now; for 14 days that can be undone.", facts, facts)

    def report(given: Params) -> ToolResult:
        said, unknown = 0, 0
        for chunk in dict.fromkeys(str(id) for id in given["chunk_ids"]):
            try:
                rows = deps.retrievals.store.list(dialog_key=given["dialog_key"], chunk_id=_uuid(chunk), limit=1).rows
                record = rows[0] if rows else None
                if record is None or record.chunk_rank is None:
                    raise NotFound("not in a record")
                deps.retrievals.report(record.id, record.chunk_rank, given["reason"])
                said += 1
            except NotFound:
                unknown += 1
        if not said:
            return ToolResult(False, "No recorded search of this dialog returned any of these chunks.")
        facts = {"reported": said, "unknown": unknown}
        return done(f"{said:,} chunks were reported; {unknown:,} are in no record of this dialog.", facts, facts)

    return (
        ModuleTool(
            "delete_dialog_memory", "memory", "Delete a dialog's chunks",
            "Delete every chunk of a dialog; its key has to be typed twice.", delete_dialog_memory, "exclude_chunks",
            "deny", "personal",
            (KEY, Parameter("confirm", "string", "The key again.", required=True, max_length=KEY_LIMIT)),
            reversible=True,
        ),
        ModuleTool(
            "merge_dialog_keys", "memory", "Merge the two keys of a pair",
            "Give everything under one key the other key of the same pair; 14 days to undo it.", merge, "merge_keys",
            "propose", "personal",
            (Parameter("kept", "string", "The key that stays.", required=True, max_length=KEY_LIMIT),
             Parameter("dropped", "string", "The key that goes.", required=True, max_length=KEY_LIMIT)),
            reversible=True, refuse=merge_refusal, target=merge_target,
            dialogs=lambda given: [str(given[name]) for name in ("kept", "dropped") if name in given],
        ),
        ModuleTool(
            "report_wrong_context", "memory", "Report wrong context",
            "Say of chunks that a search returned that they should not have been there, and why.", report,
            "report_context", "auto", "personal",
            (KEY, Parameter("chunk_ids", "array", "The ids of the chunks.", required=True, max_length=50),
             Parameter("reason", "string", "Why.", required=True, enum=tuple(WRONG))),
            reversible=True,
        ),
    )  # fmt: skip


def inverses(desk: Desk) -> Mapping[str, Callable[[Mapping[str, Any]], ToolResult]]:
    """What can be taken back of what was done here."""
    deps = desk.deps

    def unmerge(event: Mapping[str, Any]) -> ToolResult:
        rows = deps.merges.undo(str(event["payload"]["merge_id"]))
        return done(f"{rows:,} rows have their former key again.")

    def withdraw(event: Mapping[str, Any]) -> ToolResult:
        deps.retrievals.withdraw(str(event["payload"]["report_id"]))
        return done("The report was withdrawn.")

    return {"DialogKeysMerged": unmerge, "WrongContextReported": withdraw}


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        raise NotFound("no id of a chunk") from None
