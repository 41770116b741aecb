"""What is wrong, what is synced, what the memory holds, and how fresh one dialog is."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from core.companion.converse.rules_tier.answer import Part, RuleAnswer, Table, counted
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.intents import Intent
from core.health.report import ASIDE
from core.memory.dialogs import DialogStatus
from core.memory.keys import both_keys


def wrong(given: Sources, intent: Intent) -> RuleAnswer:
    """Components that are not well, and what else of the day wants looking at."""
    report = given.health()
    bad = [c for c in report.components if c.status not in ("ok", "unknown") and c.name not in ASIDE]
    unsure = [c for c in report.components if c.status == "unknown" and c.name not in ASIDE]
    lines = [f"{c.label}: {c.status}. {c.reason} {c.hint}".strip() for c in (*bad, *unsure)]
    lines = lines or [f"All {len(report.components)} components are well"]
    parts = [Part(given.source("health", "components", report.checked_at), tuple(lines))]
    day = given.day(given.today())
    for page, what, more in (
        ("snapshots", "today", _snapshots(day["snapshots"])),
        ("usage", "today", _usage(day["usage"])),
        ("operations", "keys and models of the memory", _memory(day["memory"])),
    ):
        if more:
            parts.append(Part(given.source(page, what), tuple(more)))
    found = len(bad) + sum(len(part.lines) for part in parts[1:])
    says = "Nothing is wrong." if not found else f"{counted(found, 'thing wants', 'things want')} looking at."
    if unsure:
        says += f" Of {len(unsure)} nothing is known."
    if day["errors"]:
        says += f" Not to be had now: {', '.join(day['errors'])}."
    return RuleAnswer("wrong", says, tuple(parts), suggestions=("Is everything synced?", "How is today?"))


def sync(given: Sources, intent: Intent) -> RuleAnswer:
    """The daily sync of all dialogs, and how to ask for one."""
    day = given.day(given.today())
    if "snapshots" in day["errors"]:
        return RuleAnswer("sync", "The snapshots of today cannot be read now.")
    row = day["snapshots"]
    expected, synced = row.get("expected", 0), row.get("synced", 0)
    says = f"{synced} of {expected} due dialogs are synced today." if expected else "No dialog is due for a sync today."
    lines = [
        counted(row.get("changed", 0), "entity", "entities") + " changed",
        f"{row.get('expired', 0):,} snapshots expired, {row.get('expiring_24h', 0):,} expire within 24 h",
    ]
    if row.get("missing_yesterday"):
        lines.append(counted(row["missing_yesterday"], "dialog was", "dialogs were") + " missing yesterday")
    return RuleAnswer(
        "sync",
        f"{says} For one dialog ask with its key, or with its RU and TU ids.",
        (Part(given.source("snapshots", "today"), tuple(lines)),),
        suggestions=("What is wrong?", "How big is the memory?"),
    )


def memory(given: Sources, intent: Intent) -> RuleAnswer:
    """How much there is, by source and model."""
    found = given.dialogs.overview()
    source = given.source("overview", "totals")
    lines = [f"embedded by {model}: {counted(n, 'chunk')}" for model, n in found.by_model.items()]
    if found.ambiguous_pairs:
        lines.append(counted(found.ambiguous_pairs, "pair has", "pairs have") + " chunks under both key orders")
    rows = tuple((name, n) for name, n in found.by_source.items())
    return RuleAnswer(
        "memory",
        f"{counted(found.chunks, 'chunk')} in {counted(found.dialogs, 'dialog')}.",
        (Part(source, tuple(lines)),) if lines else (),
        Table(("source", "chunks"), rows, source) if rows else None,
        suggestions=("Is everything synced?", "What is wrong?"),
    )


def dialog(given: Sources, intent: Intent) -> RuleAnswer:
    """Counts and dates of one dialog, under every key that it may have."""
    if intent.pair is not None:
        tips, generic = both_keys(*intent.pair)
        named = {tips: "RU before TU", generic: "TU before RU"} if tips != generic else {tips: "both orders"}
    else:
        named = {str(intent.dialog_key): "this key"}
    found = given.dialogs.status(list(named))
    there = {key: status for key, status in found.items() if status.chunks}
    source = given.source("dialogs", "freshness of one dialog")
    if not there:
        says = "There is nothing of this dialog in the memory: it was never ingested, or it was erased."
        return RuleAnswer("dialog", says, (Part(source, ("0 chunks",)),), dialogs=tuple(named))
    parts = [Part(source, tuple(_lines(given, named[key], status, len(there) > 1))) for key, status in there.items()]
    latest = max((s.last_ingest_at or "" for s in there.values()), default="")
    says = (
        f"It is in the memory, last ingested {_when(given, latest)}."
        if latest
        else "It is in the memory; no ingest is on record."
    )
    if len(there) > 1:
        says += " It has chunks under both key orders, which should be merged."
    return RuleAnswer("dialog", says, tuple(parts), dialogs=tuple(named))


def _lines(given: Sources, name: str, status: DialogStatus, with_name: bool) -> list[str]:
    counts = ", ".join(f"{n:,} {source}" for source, n in status.counts.items() if n)
    lines = [counted(status.chunks, "chunk") + (f" under the key {name}" if with_name else "") + f": {counts}"]
    for label, at in (
        ("latest note", status.last_note_at),
        ("latest message", status.last_message_at),
        ("profile updated", status.profile_updated_at),
        ("photo updated", status.photo_updated_at),
    ):
        if at:
            lines.append(f"{label}: {_when(given, at)}")
    return lines


def _when(given: Sources, at: str) -> str:
    """A moment in the zone; a plain day stays one."""
    if len(at) <= 10:
        return at
    return f"{datetime.fromisoformat(at).astimezone(given.zone):%Y-%m-%d %H:%M}"


def _snapshots(row: Mapping[str, Any]) -> list[str]:
    lines = []
    if row.get("missing"):
        lines.append(f"{row['missing']} of {row.get('expected', 0)} due dialogs are not synced today")
    if row.get("expired"):
        lines.append(counted(row["expired"], "expired snapshot waits", "expired snapshots wait") + " for a clean-up")
    return lines


def _usage(row: Mapping[str, Any]) -> list[str]:
    budget, lines = row.get("budget") or {}, []
    if (budget.get("percent") or 0) > 100:
        lines.append(f"the token budget of the day is used to {budget['percent']:g} %")
    if row.get("spike"):
        lines.append("the last full hour used many times its usual tokens")
    if row.get("unknown_percent", 0) > (row.get("limits") or {}).get("unknown_percent", 100):
        lines.append(f"{row['unknown_percent']:g} % of the calls name no known model")
    return lines


def _memory(row: Mapping[str, Any]) -> list[str]:
    lines = []
    if row.get("ambiguous_dialogs"):
        lines.append(counted(row["ambiguous_dialogs"], "pair has", "pairs have") + " chunks under both key orders")
    if row.get("stale_model_chunks"):
        lines.append(
            counted(row["stale_model_chunks"], "chunk is", "chunks are")
            + " embedded by another model than the one in use"
        )
    return lines
