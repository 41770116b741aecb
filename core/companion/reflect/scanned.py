"""What the scanner finds, as payloads of events, and the names under which one finding is always the same event."""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.usage.pricing import ZERO, Cost, PriceBook, Tokens, cost

NAMESPACE = uuid.UUID("8b1f0d3e-6a0c-5b0e-9a44-2f6c7d1e5a90")
_NO_WORD = re.compile(r"[^A-Za-z0-9_.:/+\[\]-]")
_FIELDS = 30


@dataclass(frozen=True)
class Found:
    """An event to be: the same `name` always gives the same id. `at`: when it happened, as far as the row tells."""

    type: str
    name: str
    at: datetime
    payload: Mapping[str, Any]
    record_id: str | None = None
    collection: str | None = None

    @property
    def id(self) -> str:
        return str(uuid.uuid5(NAMESPACE, self.name))


def ingested(row: Mapping[str, Any]) -> Found:
    """Chunks of a dialog within five minutes. What an earlier event told is left out of `upserted`."""
    key, bucket, already = row["dialog_key"], datetime.fromisoformat(row["bucket"]), int(row["already"])
    return Found(
        "DialogIngested",
        f"client_memory_chunks:{key}:{bucket.isoformat()}:{already}",
        datetime.fromisoformat(row["last"]),
        {
            "dialog_key": key,
            "bucket": bucket,
            "upserted": int(row["n"]) - already,
            "by_source": by_word(row["by_source"].items()) if not already else None,
            "model": row["model"],
        },
        record_id=key,
        collection="client_memory_chunks",
    )


def synced(row: Mapping[str, Any]) -> Found:
    """The snapshots of a dialog and a day. Those that an earlier event told count as unchanged no more."""
    key, already = row["dialog_key"], int(row["already"])
    sums = {name: int(row[name]) for name in ("unchanged", "changed", "new")}
    told = already
    for name in sums:  # what is left over is told as what it can be at most
        taken = min(told, sums[name])
        sums[name], told = sums[name] - taken, told - taken
    return Found(
        "SnapshotsSynced",
        f"tips_daily_entity_snapshots:{key}:{row['sync_date']}:{already}",
        datetime.fromisoformat(row["last"]),
        {"dialog_key": key, "sync_date": row["sync_date"], "family": row["family"], "by_type": row["by_type"], **sums},
        record_id=key,
        collection="tips_daily_entity_snapshots",
    )


def changed(row: Mapping[str, Any]) -> Found:
    """A snapshot that differs from the latest day before; the fields' names where the earlier row is still there."""
    parts = ("dialog_key", "sync_date", "entity_type", "source_role", "source_id", "new_hash")
    return Found(
        "SnapshotChanged",
        "snapshot:" + "\x1f".join(str(row[part]) for part in parts),
        datetime.fromisoformat(row["at"]),
        {
            **{part: row[part] or None for part in parts},
            "prev_hash": row["prev_hash"],
            "prev_date": row["prev_date"],
            "changed_fields": [f for f in row["fields"] or () if f and not _NO_WORD.search(f)][:_FIELDS] or None,
        },
        record_id=row["dialog_key"],
        collection="tips_daily_entity_snapshots",
    )


def completed(row: Mapping[str, Any]) -> Found:
    """The marker that a dialog's sync of a day is complete."""
    return Found(
        "DailySyncCompleted",
        f"daily_sync:{row['dialog_key']}:{row['sync_date']}",
        datetime.fromisoformat(row["at"]),
        {
            "dialog_key": row["dialog_key"],
            "sync_date": row["sync_date"],
            "completed_at": _moment(row["completed_at"]) or row["at"],
        },
        record_id=row["dialog_key"],
        collection="tips_daily_entity_snapshots",
    )


def logged(row: Mapping[str, Any], book: PriceBook | None) -> Found:
    """The calls of a request, or of an hour of a busy day; what an earlier event told is left out."""
    already = int(row["already"])
    lines = row["lines"]
    unit = f"hour:{row['hour']}" if row["hour"] else f"request:{row['request_id']}"
    providers, models = {line["provider"] for line in lines}, {line["model"] for line in lines}
    unknown = sum(line["calls"] for line in lines if line["model"] == "unknown")
    guessed = sum(line["calls"] for line in lines if line["model"] == "unknown" and line["phase"] == "generate")
    at = datetime.fromisoformat(row["last"])
    payload: dict[str, Any] = {
        name: max(0, int(row[name]) - int(row[f"already_{name}"])) for name in ("prompt", "completion", "total")
    }
    payload |= {"calls": int(row["calls"]) - already}
    if row["hour"]:
        payload |= {"hour": row["hour"], "requests": int(row["requests"])}
    else:
        payload |= {"request_id": row["request_id"], "dialog_key": row["dialog_key"]}
    if not already:  # of a rest nobody can tell which lines it is
        payload |= {
            "by_phase": by_word((line["phase"], line["calls"]) for line in lines),
            "by_model": by_word((line["model"], line["calls"]) for line in lines),
            "provider": providers.pop() if len(providers) == 1 else None,
            "model": models.pop() if len(models) == 1 else None,
            "unknown_calls": unknown,
            "estimated_calls": guessed,
            "estimated": guessed > 0,
            "cost": _cost(lines, at, book),
        }
    record = None if row["hour"] else row["request_id"]
    return Found("TokensLogged", f"token_usage_log:{unit}:{already}", at, payload, record, "token_usage_log")


def by_word(counts: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Counts by plain word; those of names that become one are added."""
    found: dict[str, int] = {}
    for name, n in counts:
        plain = _NO_WORD.sub("_", name)[:100] or "none"
        found[plain] = found.get(plain, 0) + int(n)
    return found


def _cost(lines: Sequence[Mapping[str, Any]], at: datetime, book: PriceBook | None) -> float | None:
    """USD as far as prices are known; None where none is. Prices for small prompts, as the lines are sums."""
    if book is None:
        return None
    known = Cost()
    for line in lines:
        tokens = Tokens.of({**line, "cached_in_prompt": line["cached"]})
        known += cost(tokens, line["provider"], line["model"], 0, at, book)
    return float(known.usd) if known.priced or known.usd != ZERO else None


def _moment(text: str | None) -> datetime | None:
    try:
        at = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return at if at and at.tzinfo else None
