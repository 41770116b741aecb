"""The API's rules of who may call, before an ASGI application of another room."""

from __future__ import annotations

from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from core.access.caller import leave_caller
from core.api.answers import bug, failure
from core.api.guard import Signed, check_caller, nobody_signs_in
from core.bootstrap import Core
from core.errors import CoreError


class Guarded:
    """An instance, not a function: Starlette passes such an endpoint the bare ASGI call."""

    def __init__(self, get_core: Callable[[], Core], app: ASGIApp, signed: Signed) -> None:
        self._get_core = get_core
        self._app = app
        self._signed = signed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused: Response | None = None
        try:
            core = await run_in_threadpool(self._get_core)
            caller = await run_in_threadpool(check_caller, Request(scope), core, signed=self._signed())
            leave_caller(scope, caller.actor)
        except CoreError as error:
            refused = failure(error)
        except Exception as error:
            refused = bug(error)
        await (refused or self._app)(scope, receive, send)


def mounted(path: str, get_core: Callable[[], Core], app: ASGIApp, signed: Signed = nobody_signs_in) -> list[Route]:
    """Routes for it, with and without the slash at the end; every method goes through."""
    endpoint = Guarded(get_core, app, signed)
    return [Route(path, endpoint), Route(f"{path}/", endpoint)]
