"""The history of migrations: what is pending, what only the database knows, and what would destroy memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from core.health.report import Verdict
from core.health.words import these

# The existing service's first migration truncates the chunk table. We never ship it; where it is not recorded, its
# `supabase db push` would still run it. Source: spec/memory.md section 10.
LEGACY_VERSION = "20260519"
LEGACY_FILE = "20260519_gemini_memory_embeddings.sql"

_WATCHED = "client_memory_chunks|tips_daily_entity_snapshots|token_usage_log"
_DESTRUCTIVE = re.compile(
    rf"\b(truncate|drop\s+table|delete\s+from)\b(?:\s+(?:table|only|if\s+exists))*\s+(?:public\.)?\"?(?:{_WATCHED})\b",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


class MigrationFile(Protocol):
    """A file `<version>_<name>.sql`."""

    @property
    def version(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def sql(self) -> str: ...


def destructive_statement(sql: str) -> str | None:
    """`truncate`, `drop table` or `delete from`, where such a statement names a table of memory, snapshots or usage."""
    found = _DESTRUCTIVE.search(_COMMENT.sub(" ", sql))
    return " ".join(found[1].lower().split()) if found else None


def judge_history(files: Sequence[MigrationFile], applied: Iterable[Mapping[str, Any]], *, embedded: bool) -> Verdict:
    """Pending and destructive files. Facts: `applied`, `pending`, `destructive`, `foreign` (recorded, and not ours)."""
    versions = {str(row["version"]) for row in applied}
    pending = [file for file in files if file.version not in versions]
    names = [f"{file.version}_{file.name}.sql" for file in pending]
    destructive = {
        f"{file.version}_{file.name}.sql": kind for file in pending if (kind := destructive_statement(file.sql))
    }
    legacy_open = not embedded and LEGACY_VERSION not in versions
    if legacy_open:
        destructive[LEGACY_FILE] = "truncate"
    facts = {
        "applied": len(versions),
        "pending": names,
        "destructive": destructive,
        "foreign": sorted(versions - {file.version for file in files}),
    }
    if pending:
        how = "Run `python -m core migrate`."
        if destructive:
            how = f"Look at {', '.join(destructive)} first: it empties a table. {how}"
        return Verdict("degraded", f"{these(len(pending), 'migration is', 'migrations are')} pending.", how, facts)
    if legacy_open:
        return Verdict(
            "degraded",
            f"{LEGACY_FILE} of the existing service is not recorded as applied, and would empty the chunk table.",
            f"If its change is in place: `supabase migration repair --status applied {LEGACY_VERSION}`.",
            facts,
        )
    return Verdict("ok", f"{len(files)} migrations are applied.", facts=facts)
