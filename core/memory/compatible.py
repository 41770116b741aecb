"""Before the first write beside another writer: do its rows' keys and hashes come out of our formulas?

If they do not, the unique key cannot recognise them and every chunk would be stored a second time.
Source: spec/memory.md section 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from core.errors import IncompatibleRows
from core.memory.keys import both_keys, chunk_hash

DIGEST = re.compile(r"[0-9a-f]{64}")
TOLERATED_SHARE = 0.2  # a few rows edited by hand must not stop every ingest; another formula fails nearly all


@dataclass(frozen=True)
class Comparison:
    """Of `rows` sampled, how many have another content hash or another dialog key than ours would be."""

    rows: int
    other_hash: int
    other_key: int

    @property
    def compatible(self) -> bool:
        most = max(self.other_hash, self.other_key)
        return most == 0 or most < TOLERATED_SHARE * self.rows


def compare(rows: Iterable[Mapping[str, Any]]) -> Comparison:
    """Recompute hash and key of sampled rows. A key is only judged where both ids are known and it looks like a digest:
    a request may have brought any `dialogKey` of its own. Pure."""
    total = other_hash = other_key = 0
    for row in rows:
        total += 1
        ours = chunk_hash(row["dialog_key"], row["source"], row["source_id"] or "", row["text"])
        other_hash += ours != row["content_hash"]
        ru, tu = row.get("client_id"), row.get("woman_id")
        if ru and tu and DIGEST.fullmatch(row["dialog_key"] or ""):
            other_key += row["dialog_key"] not in both_keys(ru, tu)
    return Comparison(total, other_hash, other_key)


def require_compatible(comparison: Comparison) -> None:
    """Errors: IncompatibleRows (409) with the counts."""
    if comparison.compatible:
        return
    what, count = (
        ("content_hash", comparison.other_hash)
        if comparison.other_hash >= comparison.other_key
        else ("dialog_key", comparison.other_key)
    )
    raise IncompatibleRows(
        f"{count} of {comparison.rows} sampled rows have a {what} that our formula does not give.",
        hint="Nothing was written: every chunk would be stored twice. Which version wrote these rows?",
        detail=f"rows={comparison.rows} other_hash={comparison.other_hash} other_key={comparison.other_key}",
    )
