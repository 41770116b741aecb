"""The wire under supabase-py: a deadline per call, the status of its answer, and no HTML taken for data."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import httpx

CONNECT_TIMEOUT_S = 3.0


class UnexpectedAnswer(Exception):
    """A success whose body is no JSON: a proxy, a login page, another server on that port."""


@dataclass
class Call:
    """One request under way: how long it may take, and the HTTP status once there is one."""

    budget_s: float
    status: int | None = None


_call: ContextVar[Call | None] = ContextVar("database_call", default=None)


@contextmanager
def calling(budget_s: float) -> Iterator[Call]:
    """Requests sent inside have `budget_s` seconds; the Call says with which status the last one was answered."""
    call = Call(budget_s)
    token = _call.set(call)
    try:
        yield call
    finally:
        _call.reset(token)


class Wire(httpx.BaseTransport):
    """Wraps a transport; supabase-py offers no timeout per call, and httpx none for a whole answer."""

    def __init__(self, inner: httpx.BaseTransport, default_s: float) -> None:
        self._inner = inner
        self._default_s = default_s

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        call = _call.get()
        budget = call.budget_s if call else self._default_s
        until = time.monotonic() + budget
        wait = min(CONNECT_TIMEOUT_S, budget)
        request.extensions["timeout"] = {"connect": wait, "pool": budget, "read": budget, "write": budget}
        response = self._inner.handle_request(request)
        if call:
            call.status = response.status_code
        kind = response.headers.get("content-type", "json")
        if response.is_success and request.method != "HEAD" and "json" not in kind:
            response.close()
            raise UnexpectedAnswer(f"status {response.status_code}")
        assert isinstance(response.stream, httpx.SyncByteStream)
        response.stream = _Until(response.stream, until, request)
        return response

    def close(self) -> None:
        self._inner.close()


class _Until(httpx.SyncByteStream):
    def __init__(self, inner: httpx.SyncByteStream, until: float, request: httpx.Request) -> None:
        self._inner = inner
        self._until = until
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        for part in self._inner:
            if time.monotonic() > self._until:
                raise httpx.ReadTimeout("the answer trickled past its deadline", request=self._request)
            yield part

    def close(self) -> None:
        self._inner.close()
