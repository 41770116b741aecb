"""The routes themselves: check the caller, read the body, ask core once, answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.access import permit, sight
from core.api import memory, metrics, retrievals, snapshots, usage
from core.api.answers import bug, failure, ok, parse_object
from core.api.call import Answer, Call
from core.api.guard import Caller, Signed, check_caller, nobody_signs_in, read_body
from core.bootstrap import Core
from core.errors import CoreError
from core.events import run_as

PREFIX = "/stack-ai/tips"
Handler = Callable[[Core, Call], Answer]
ALL_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

# path -> (method, action that the caller needs, handler)
TABLE: dict[str, tuple[str, str, Handler]] = {
    "/supabase/health": ("GET", "health", memory.supabase_health),
    "/memory/status": ("GET", "health", memory.memory_status),
    "/status": ("POST", "status", memory.dialog_status),
    "/memory/ingest": ("POST", "ingest", memory.ingest),
    "/memory/search": ("POST", "search", memory.search),
    "/memory/retrievals/{requestId:path}": ("GET", "retrievals", retrievals.of_request),
    "/health": ("GET", "health", memory.health),
    "/metrics": ("GET", "health", metrics.metrics),
    "/snapshots": ("POST", "snapshots_capture", snapshots.capture),
    "/snapshots/diff": ("GET", "snapshots", snapshots.diff),
    "/snapshots/cleanup": ("POST", "snapshots_cleanup", snapshots.cleanup),
    "/usage": ("POST", "record_usage", usage.record),
    "/usage/dialog/{dialogKey:path}": ("GET", "usage", usage.dialog),
    "/usage/summary": ("GET", "usage", usage.summary),
}


def build_routes(core: Callable[[], Core], signed: Signed = nobody_signs_in) -> list[Route]:
    """Routes for an ASGI application; `core` is asked at each request, so a failed start answers an error, not 404."""
    known = [
        Route(PREFIX + path, _measured(path, _endpoint(core, signed, method, action, handler)), methods=[method])
        for path, (method, action, handler) in TABLE.items()
    ]
    wrong_method = [
        Route(PREFIX + path, _measured(path, _wrong_method(TABLE[path][0])), methods=ALL_METHODS) for path in TABLE
    ]
    nowhere = _measured("other", _unknown)
    unknown = [Route(path, nowhere, methods=ALL_METHODS) for path in (PREFIX, PREFIX + "/{rest:path}")]
    return known + wrong_method + unknown


def _measured(route: str, endpoint: Callable[[Request], Any]) -> Callable[[Request], Any]:
    """The same endpoint, counted under the pattern of its route."""

    async def measured(request: Request) -> Response:
        began = time.perf_counter()
        response: Response = await endpoint(request)
        metrics.observe(route, request.method, response.status_code, time.perf_counter() - began)
        return response

    return measured


def _endpoint(
    get_core: Callable[[], Core], signed: Signed, method: str, action: str, handler: Handler
) -> Callable[[Request], Any]:
    async def endpoint(request: Request) -> Response:
        try:
            core = await run_in_threadpool(get_core)
            caller = await run_in_threadpool(check_caller, request, core, signed=signed())
            body = parse_object(await read_body(request)) if method == "POST" else {}
            call = Call(body=body, path=request.path_params, query=request.query_params)
            return await run_in_threadpool(_answer, core, caller, action, handler, call)
        except CoreError as error:
            return failure(error)
        except Exception as error:
            return bug(error)

    return endpoint


def _answer(core: Core, caller: Caller, action: str, handler: Handler, call: Call) -> Response:
    with run_as(caller.actor), sight(caller.reason):
        permit(action)
        value, status = handler(core, call)
    return ok(value, status)


def _wrong_method(right: str) -> Callable[[Request], Any]:
    async def endpoint(_: Request) -> Response:
        response = _refusal(405, "method_not_allowed", f"This path answers {right} only.")
        response.headers["Allow"] = right
        return response

    return endpoint


async def _unknown(_: Request) -> Response:
    return _refusal(404, "not_found", "There is no such API path.")


def _refusal(status: int, code: str, message: str) -> Response:
    return ok({"error": {"code": code, "message": message}}, status)
