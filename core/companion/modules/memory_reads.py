"""What can be asked of the memory by name. `llm_data` holds ids of chunks, counts, scores and dates: no text, no key,
no id of a person. Source: spec/companion.md section 18."""

from __future__ import annotations

from typing import Any

from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.companion.modules.answers import Params, done
from core.companion.modules.desk import Desk
from core.memory.hits import Hit
from core.memory.keys import both_keys
from core.memory.requests import SearchRequest
from core.memory.search import best_hits
from core.memory.sources import ID_LIMIT, KEY_LIMIT, LIMIT_MAX, LIMIT_MIN
from core.memory.status import pair_status

KEY = Parameter("dialog_key", "string", "The key of the dialog.", required=True, max_length=KEY_LIMIT)
RU = Parameter("ru_id", "string", "The id of the RU.", max_length=ID_LIMIT)
TU = Parameter("tu_id", "string", "The id of the TU.", max_length=ID_LIMIT)
QUERY = Parameter("query", "string", "What to look for, in a few words.", required=True, max_length=2_000)
LIMIT = Parameter("limit", "integer", "How many.", minimum=LIMIT_MIN, maximum=LIMIT_MAX, default=12)
MODE = Parameter("compose_mode", "string", "For a reply, or for anything.", enum=("reply", "both"), default="both")


def reads(desk: Desk) -> tuple[ModuleTool, ...]:
    deps = desk.deps

    def memory_status(_: Params) -> ToolResult:
        found = deps.dialogs.overview()
        facts = {"chunks": found.chunks, "dialogs": found.dialogs, "by_source": dict(found.by_source)}
        facts |= {"by_model": dict(found.by_model), "ambiguous_pairs": found.ambiguous_pairs}
        facts |= {"first_at": found.first_at, "last_at": found.last_at, "model": deps.model()}
        return done(f"{found.chunks:,} chunks in {found.dialogs:,} dialogs.", facts, facts)

    def dialog_status(given: Params) -> ToolResult:
        key = given.get("dialog_key")
        if key is None:
            if "ru_id" not in given or "tu_id" not in given:
                return ToolResult(False, "Name dialog_key, or ru_id and tu_id.")
            key = pair_status(deps.dialogs, given["ru_id"], given["tu_id"]).dialog_key
        found = deps.dialogs.status([key])[key]
        facts = {"counts": dict(found.counts), "last_note_at": found.last_note_at}
        facts |= {"last_message_at": found.last_message_at, "profile_updated_at": found.profile_updated_at}
        facts |= {"photo_updated_at": found.photo_updated_at, "last_ingest_at": found.last_ingest_at}
        return done(f"{found.chunks:,} chunks.", {"dialog_key": key, **facts}, facts)

    def search_memory(given: Params) -> ToolResult:
        found = deps.search.search(_request(given))
        bare = [_bare(hit) for hit in found.hits]
        return done(f"{len(bare)} chunks, of {found.searchable:,}.", found.as_json(), bare)

    def explain_search(given: Params) -> ToolResult:
        found = deps.search.explore(_request(given))
        hits = best_hits(found)
        shared = {
            "weights": dict(found.weights),
            "weights_version": found.weights_version,
            "model": found.model,
            "total": found.total,
            "searchable": found.searchable,
            "left_out": {**found.excluded, **{f"model {m}": n for m, n in found.other_models.items()}},
            "superseded": len(found.superseded),
        }
        parts = [{**_bare(h), "cosine": round(h.cosine, 4), "boost": h.boost} for h in hits]
        full = [{**part, "text": hit.text} for part, hit in zip(parts, hits, strict=True)]
        whole = {"dialog_key": given["dialog_key"], **shared, "hits": full}
        return done(f"{len(hits)} chunks, each with its parts.", whole, {**shared, "hits": parts})

    def resolve_dialog_key(given: Params) -> ToolResult:
        tips, generic = both_keys(given["ru_id"], given["tu_id"])
        found = deps.dialogs.status([tips, generic])
        counts = {"tips": found[tips].chunks, "generic": found[generic].chunks}
        both = all(counts.values()) and tips != generic
        words = "Both orders of the key have chunks." if both else "One order of the key at most has chunks."
        return done(words, {"tips": {"dialog_key": tips, "chunks": counts["tips"]},
                            "generic": {"dialog_key": generic, "chunks": counts["generic"]}},
                    {**counts, "ambiguous": both})  # fmt: skip

    shared: dict[str, Any] = {"module": "memory", "default_policy": "auto", "read_only": True}
    return (
        ModuleTool(
            "memory_status", label="Memory at a glance", execute=memory_status, action="list_dialogs",
            description="How many chunks and dialogs the memory holds, by source and by embedding model.",
            content_class="personal", **shared,
        ),
        ModuleTool(
            "dialog_status", label="Freshness of a dialog", execute=dialog_status, action="status",
            description="Counts by source and the latest dates of one dialog, by its key or by the two ids.",
            content_class="personal",
            parameters=(Parameter("dialog_key", "string", "Its key.", max_length=KEY_LIMIT), RU, TU),
            dialogs=of_pair, **shared,
        ),
        ModuleTool(
            "search_memory", label="Search a dialog", execute=search_memory, action="search",
            description="The best chunks of one dialog for a query. A model gets ids, source, score and date alone.",
            content_class="sensitive", parameters=(KEY, QUERY, LIMIT, MODE), **shared,
        ),
        ModuleTool(
            "explain_search", label="Explain a search", execute=explain_search, action="search",
            description="Similarity and boost of each chunk that a query finds, and what the filters left out.",
            content_class="sensitive", parameters=(KEY, QUERY, LIMIT, MODE), **shared,
        ),
        ModuleTool(
            "resolve_dialog_key", label="Both keys of a pair", execute=resolve_dialog_key, action="status",
            description="The two keys that two ids can make, and how many chunks stand under each.",
            content_class="personal",
            parameters=(
                Parameter("ru_id", "string", "The id of the RU.", required=True, max_length=ID_LIMIT),
                Parameter("tu_id", "string", "The id of the TU.", required=True, max_length=ID_LIMIT),
            ),
            dialogs=of_pair, **shared,
        ),
    )  # fmt: skip


def _request(given: Params) -> SearchRequest:
    return SearchRequest(
        dialog_key=given["dialog_key"],
        query=given["query"],
        limit=given["limit"],
        compose_mode=given["compose_mode"],
    )


def _bare(hit: Hit) -> dict[str, Any]:
    date = hit.note_date or hit.sent_at
    return {"id": hit.id, "source": hit.source, "score": round(hit.weighted_score, 4), "date": date, "rank": hit.rank}


def of_pair(given: Params) -> list[str]:
    return [*both_keys(given["ru_id"], given["tu_id"])] if "ru_id" in given and "tu_id" in given else []
