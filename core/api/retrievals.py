"""What was retrieved for a request: recorded, replayed or reconstructed, always said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.api.call import Answer, Call, said
from core.bootstrap import Core
from core.errors import InputError, NotFound
from core.memory.hits import Hit
from core.memory.prompt import prompt_block
from core.retrievals.drift import Drift
from core.retrievals.record import NOT_USED, Retrieval
from core.services.replay import Replayed
from core.tokens import estimate_tokens
from core.usage.lines import RequestLine

SWITCH = {"true": True, "1": True, "false": False, "0": False}


def of_request(core: Core, call: Call) -> Answer:
    """The records of a request, newest first; without any, the request as it can be built again from its usage.

    `?replay=true` adds what the newest one finds today. Errors: InputError, NotFound.
    """
    request_id = str(call.path["requestId"])
    again = call.query.get("replay", "false").lower()
    if again not in SWITCH:
        raise InputError("replay is neither true nor false.", field="replay")
    found = core.retrievals.store.of_request(request_id)
    body: dict[str, Any] = {"requestId": request_id, "note": NOT_USED}
    if found.rows:
        rows = core.veil.answer(found.rows)
        body |= {"kind": "recorded", "total": found.total, "retrievals": [_record(record) for record in rows]}
        if SWITCH[again]:
            latest = found.rows[0]  # as it is stored: its query is asked again
            body["replayed"] = _replayed(core.veil.answer(core.replays.replay(latest), latest.dialog_key))
        calls = core.replays.usage(request_id)
    else:
        built = core.replays.reconstruct(request_id)
        if built is None:
            raise NotFound(
                "No search was recorded under this requestId, and no call was logged with it.",
                hint="Send requestId with POST /memory/search; records are kept for a limited time.",
            )
        built = core.veil.answer(built)
        body |= {"kind": "reconstructed", "at": built.at.isoformat(), "dialogKey": built.request.dialog_key}
        body |= {"query": built.query, "why": built.why, "total": 0, "retrievals": []}
        body["replayed"] = _replayed(built.replayed) if built.replayed else None
        calls = built.request
    body["tokensByPhase"] = _phases(calls) if calls else []
    return body | said(), 200


def _record(record: Retrieval) -> dict[str, Any]:
    return {
        "kind": "recorded",
        "id": record.id,
        "at": record.at,
        "scope": record.scope,
        "dialogKey": record.dialog_key,
        "query": record.query,
        "composeMode": record.compose_mode,
        "limit": record.asked_limit,
        "model": record.model,
        "fallback": record.fallback,
        "weightsVersion": record.weights_version,
        "sourceWeights": dict(record.weights),
        "profile": record.profile,
        "latencyMs": {
            "embed": round(record.embed_ms, 2),
            "database": round(record.database_ms, 2),
            "score": round(record.score_ms, 2),
            "total": round(record.total_ms, 2),
        },
        "total": record.total,
        "searchable": record.searchable,
        "results": [
            {
                "id": chunk.id,
                "source": chunk.source,
                "source_id": chunk.source_id,
                "text": chunk.text,
                "weighted_score": chunk.score,
                "note_date": chunk.note_date,
                "sent_at": chunk.sent_at,
                "direction": chunk.direction,
                "cosine": chunk.cosine,
                "lexical": chunk.lexical,
                "boost": chunk.boost,
                "rank": chunk.rank,
                **({"dialog_key": chunk.dialog_key} if record.scope == "all" else {}),
            }
            for chunk in record.chunks
        ],
        "promptBlock": record.prompt_block,
        "tokensEstimated": record.tokens,
        "wrongContext": [
            {"rank": report.rank, "id": report.chunk_id, "reason": report.reason, "at": report.at}
            for report in record.wrong
            if report.withdrawn_at is None
        ],
    }


def _replayed(replayed: Replayed) -> dict[str, Any]:
    block = prompt_block(replayed.hits)
    return {
        "kind": "replayed",
        "at": replayed.at.isoformat(),
        "model": replayed.model,
        "weightsVersion": replayed.profile.version,
        "sourceWeights": dict(replayed.profile.weights),
        "results": _rows(replayed.hits),
        "resultsWithRecordedWeights": _rows(replayed.before),
        "promptBlock": block,
        "tokensEstimated": estimate_tokens(block),
        "differs": list(replayed.differs),
        "drift": [_drift(drift) for drift in replayed.drift],
        "warnings": [{"field": w.field, "message": w.message} for w in replayed.warnings],
    }


def _rows(hits: Iterable[Hit]) -> list[dict[str, Any]]:
    return [hit.as_row(explain=True) for hit in hits]


def _drift(drift: Drift) -> dict[str, Any]:
    return {
        "id": drift.id,
        "source": drift.source,
        "changes": list(drift.changes),
        "rankThen": drift.then.rank if drift.then else None,
        "rankNow": drift.rank_now,
        "rankWithRecordedWeights": drift.rank_before,
    }


def _phases(request: RequestLine) -> list[dict[str, Any]]:
    """Tokens by phase, in the order in which the phases began."""
    phases = dict.fromkeys(call.phase for call in request.calls)
    return [
        {"phase": phase, "calls": sum(t.calls for t in tokens), "totalTokens": sum(t.total for t in tokens)}
        for phase in phases
        if (tokens := [call.tokens for call in request.calls if call.phase == phase])
    ]
