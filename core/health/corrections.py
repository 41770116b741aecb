"""Verdict on what people decided and other writers undo: erased persons, merged keys, excluded chunks. No I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.health.report import Verdict

WHERE = "Open Operations."


def judge_corrections(state: Mapping[str, Any]) -> Verdict:
    """An erased person who is written again comes first. Counts only: a dialog key belongs into no health report."""
    again, reopened = len(state["written_again"]), len(state["reopened"])
    facts = {
        "erasures": state["erasures"],
        "erased_written_again": again,
        "merged_written_again": reopened,
        "excluded": state["tombstones"],
        "revived": state["revived"],
    }
    if again:
        reason = f"Erased dialogs are written again: {again:,}."
        return Verdict("degraded", reason, f"{WHERE} Find the writer, then erase again.", facts, "erased_written_again")
    if reopened:
        reason = f"Dialog keys that were merged away are written again: {reopened:,}."
        return Verdict("degraded", reason, f"{WHERE} Merge again, or copy.", facts, "merged_written_again")
    if state["revived"]:
        reason = f"Excluded chunks were brought back by another writer: {state['revived']:,}."
        return Verdict("degraded", reason, f"{WHERE} Exclude them again, or put them back.", facts, "revived")
    return Verdict("ok", "Nothing that was taken out has come back.", facts=facts)
