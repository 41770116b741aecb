"""What each route asks of core: one call, one object back. The shapes are those of the existing service."""

from __future__ import annotations

from dataclasses import replace

from core.api.call import Answer, Call, said
from core.bootstrap import Core
from core.memory.requests import parse_search


def ingest(core: Core, call: Call) -> Answer:
    return core.ingest.ingest(call.body).as_json(), 200


def search(core: Core, call: Call) -> Answer:
    """The query is echoed as it came: it is the caller's own."""
    request = parse_search(call.body)
    found = core.search.search(request)
    shown = replace(core.veil.answer(found), query=found.query)
    return {**shown.as_json(explain=request.explain), **said()}, 200


def dialog_status(core: Core, call: Call) -> Answer:
    return core.status(call.body.get("ruId"), call.body.get("tuId")).as_json(), 200


def supabase_health(core: Core, _: Call) -> Answer:
    answer = core.health.supabase_health()
    return answer, 200 if answer["ok"] else 503


def memory_status(core: Core, _: Call) -> Answer:
    answer = core.health.memory_status()
    return answer, 200 if answer["ready"] else 503


def health(core: Core, _: Call) -> Answer:
    report = core.health.report()
    return report.as_json(), 503 if report.status in ("down", "unknown") else 200
