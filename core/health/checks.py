"""From an answer to a verdict; no I/O. Each function knows one component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from core.db.failures import MIGRATE
from core.db.keys import KeyRole
from core.health.report import Verdict
from core.health.words import these

CHUNKS = "client_memory_chunks"
# Beyond this share the search misses enough to be called degraded. Source: spec/companion.md, rule stale-embeddings.
STALE_SHARE = 0.05
SERVICE_KEY = "Set BESCO_SUPABASE_SERVICE_ROLE_KEY."
HIDDEN = "row-level security hides what it may not read"


def judge_chunks(count: int, role: KeyRole) -> Verdict:
    """The chunk table answered with its number of rows; a key that row-level security applies to may see none."""
    facts = {"chunks": count, "table": CHUNKS, "key": role}
    if role == "anon":
        seen = "and sees no row" if count == 0 else f"and sees {count:,} rows"
        return Verdict(
            "degraded",
            f"The key is an anon or publishable key {seen}: {HIDDEN}.",
            SERVICE_KEY,
            facts,
            "public_key",
        )
    return Verdict("ok", f"{count:,} chunks.", facts=facts)


def judge_schema(found: Mapping[str, Any], lacking: Sequence[str] = ()) -> Verdict:
    """Tables, functions and columns that this version needs; `lacking`: what migrations make and is not there."""
    tables = [table["name"] for table in found["tables"] if not table["exists"]]
    functions = [function["name"] for function in found["functions"] if not function["exists"]]
    older = [function["name"] for function in found["functions"] if function["exists"] and not function["ours"]]
    columns = list(found["chunk_columns_missing"])
    facts = {
        "postgres": found["postgres"],
        "missing_tables": tables,
        "missing_functions": functions,
        "foreign_functions": older,
        "missing_columns": columns,
        "missing": list(lacking),
    }
    missing = list(dict.fromkeys([*tables, *functions, *columns, *lacking]))
    if missing:
        return Verdict("down", f"Missing in the database: {_some(missing)}.", MIGRATE, facts)
    if older:
        return Verdict("degraded", f"Another form of {_some(older)} is in the database.", MIGRATE, facts)
    return Verdict("ok", f"PostgreSQL {found['postgres']}, all tables and functions are there.", facts=facts)


def judge_protection(found: Mapping[str, Any], also: Sequence[str] = ()) -> Verdict:
    """Tables that an anonymous caller can read: red, although everything works."""
    open_tables = sorted({*found["unprotected"], *also})
    facts = {"unprotected": open_tables}
    if open_tables:
        return Verdict(
            "down",
            f"Anyone with the public key can read {_some(open_tables)}.",
            "Switch on row-level security, after checking who reads these tables with a public key.",
            facts,
        )
    return Verdict("ok", "Row-level security protects every table.", facts=facts)


def judge_index(found: Mapping[str, Any]) -> Verdict:
    """pgvector, and the HNSW index that a search across dialogs needs."""
    version = found["pgvector"]
    if not version:
        return Verdict("down", "The extension pgvector is missing.", "Enable `vector` in Supabase, then migrate.")
    hnsw = [i for i in found["indexes"] if i["table"] == CHUNKS and "hnsw" in str(i["def"]).lower()]
    facts = {"pgvector": version, "hnsw": [i["name"] for i in hnsw if i["valid"]]}
    if not hnsw:
        return Verdict("degraded", "No HNSW index: a search across dialogs reads every row.", MIGRATE, facts)
    if not any(i["valid"] for i in hnsw):
        name = hnsw[0]["name"]
        return Verdict("degraded", f"The index {name} is invalid.", f"Run `reindex index concurrently {name}`.", facts)
    return Verdict("ok", f"pgvector {version}, HNSW index in place.", facts=facts)


def judge_models(memory: Mapping[str, Any], model: str | None) -> Verdict:
    """Chunks of another embedding model than the active one: not searchable until they are embedded again."""
    by_model = {str(name): int(n) for name, n in (memory["by_model"] or {}).items()}
    total = sum(by_model.values())
    facts: dict[str, Any] = {"by_model": by_model, "active": model}
    if model is None:
        return Verdict("unknown", "No embedder is configured, so no row can be called current.", facts=facts)
    stale = total - by_model.get(model, 0)
    facts["stale"] = stale
    if stale == 0:
        return Verdict("ok", f"Every chunk is of {model}.", facts=facts)
    reason = f"{stale:,} of {total:,} chunks are of another model and not searchable."
    if stale < total and (stale <= total * STALE_SHARE or only_demo(memory)):
        return Verdict("ok", reason, facts=facts)
    return Verdict("degraded", reason, "Embed them again, or set the embedder that wrote them.", facts)


def judge_keys(memory: Mapping[str, Any]) -> Verdict:
    """Pairs with chunks under both key orders: a search sees only one half of their memory."""
    pairs = int(memory["ambiguous_pairs"])
    facts = {"ambiguous_pairs": pairs}
    if pairs == 0:
        return Verdict("ok", "No pair has chunks under both key orders.", facts=facts)
    reason = f"{these(pairs, 'pair has', 'pairs have')} chunks under both key orders; a search sees one half."
    if only_demo(memory):
        return Verdict("ok", f"{reason} The demo data means to show this.", facts=facts)
    return Verdict("degraded", reason, "Compare the two keys on the page Dialogs.", facts)


def judge_rollups(memory: Mapping[str, Any], daily: Mapping[str, Any] | None) -> Verdict:
    """The totals behind lists and figures: marked stale by a trigger that failed, or found to differ by the daily
    comparison with the rows."""
    facts: dict[str, Any] = {"stale": bool(memory["rollup_stale"]), "dialogs": memory["dialogs"]}
    rebuild = "Rebuild them (desk_rebuild_rollups)."
    compared = (daily or {}).get("totals")
    if daily is not None and compared is not None:
        facts |= {"equal": compared["equal"], "differing": compared["differing"], "compared_at": daily["at"]}
        if not compared["equal"]:
            return Verdict("degraded", "Totals differ from the rows they count.", rebuild, facts)
    if memory["rollup_stale"]:
        return Verdict("degraded", "Totals are marked stale and may be old.", rebuild, facts)
    return Verdict("ok", "Totals are current." if compared is None else "Totals equal the rows.", facts=facts)


def judge_embedder(model: str | None, probed: bool) -> Verdict:
    """Whether new text can be embedded. A light probe is made only when asked for: it may cost money."""
    if model is None:
        return Verdict(
            "degraded", "No embedder is configured: neither ingest nor search by meaning.", "Set BESCO_GEMINI_API_KEY."
        )
    answered = "answered just now" if probed else "not asked"
    return Verdict("ok", f"{model}, {answered}.", facts={"model": model, "probed": probed})


def judge_spool(waiting: int, in_memory: int, refused: int, failing_s: float | None) -> Verdict:
    """Records that the database has not taken yet."""
    facts = {"waiting": waiting, "in_memory": in_memory, "refused": refused}
    if in_memory:
        return Verdict(
            "degraded",
            f"The disk takes no records; {in_memory:,} are in memory only.",
            "Free space in the data folder.",
            facts,
        )
    if failing_s is not None:
        return Verdict(
            "degraded",
            f"{these(waiting, 'record waits', 'records wait')} on disk, for {failing_s:,.0f} s.",
            "They are written by themselves.",
            facts,
        )
    if refused:
        return Verdict(
            "degraded",
            f"{refused:,} records were refused by the database.",
            "See the *.refused files in the spool.",
            facts,
        )
    return Verdict("ok", "Nothing waits to be written." if waiting == 0 else f"{waiting:,} on their way.", facts=facts)


def only_demo(memory: Mapping[str, Any]) -> bool:
    """Whether every chunk is of the demo data, which shows faults on purpose."""
    demo = memory.get("demo") or {}
    return 0 < int(memory.get("chunks") or 0) <= int(demo.get("chunks") or 0)


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"
