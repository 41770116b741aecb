"""What is counted in this process: requests, wrong tokens, uploads, open sessions, and how much is done at once."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from core.api.limits import Buckets
from core.api.web.refusals import Refusal
from core.api.web.site import Asked

AT_ONCE = 16  # API requests being answered: each takes one of 28 threads that the pages need too
WAITING = 200
PATIENCE_S = 20.0
SESSIONS = 500
SESSIONS_EACH = 200  # behind a proxy that tells no address everybody is one
GUESSES, GUESSES_PER_MINUTE = 20.0, 10.0
UPLOADS, UPLOAD_BYTES = 200.0, 1024.0**3  # an hour and person


class Pace:
    """One per process. Errors are Refusals that say when to come again."""

    def __init__(self, rate_per_minute: int, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._api = Buckets(rate_per_minute, max(1, rate_per_minute), clock=clock)
        self.clicks = Buckets(rate_per_minute, max(1, rate_per_minute / 2), clock=clock)
        self._guesses = Buckets(GUESSES_PER_MINUTE, GUESSES, clock=clock)
        self._files = Buckets(UPLOADS / 60, UPLOADS, clock=clock)
        self._bytes = Buckets(UPLOAD_BYTES / 60, UPLOAD_BYTES, clock=clock)
        self._known: OrderedDict[str, None] = OrderedDict()
        self._sessions: Counter[str] = Counter()
        self._slots: asyncio.Semaphore | None = None
        self._waiting = 0

    def request(self, asked: Asked) -> Refusal | None:
        """Count one request of the API. After many wrong tokens an address waits, unless this one was right before."""
        guessing = self._guesses.wait(asked.client)
        if guessing and asked.token and asked.token not in self._known:
            return Refusal(429, "too_many_guesses", "Too many wrong tokens came from this address.", guessing)
        wait = self._api.take(asked.counted)
        return (
            Refusal(429, "too_many_requests", "Too many requests; come again a little later.", wait) if wait else None
        )

    def answered(self, asked: Asked, status: int) -> None:
        """What became of a request: a token that was refused counts as a guess."""
        if asked.token is None:
            return
        if status == 401:
            self._guesses.take(asked.client)
            self._known.pop(asked.token, None)
        else:
            self._known[asked.token] = None
            self._known.move_to_end(asked.token)
            while len(self._known) > 1_000:
                self._known.popitem(last=False)

    def upload(self, asked: Asked) -> Refusal | None:
        """Count one file of a browser."""
        who = asked.person or asked.client
        length = asked.headers.get("content-length", "")
        wait = self._bytes.take(who, float(length) if length.isdigit() else 0.0) or self._files.take(who)
        return Refusal(429, "too_many_uploads", "Too many uploads; come again later.", wait) if wait else None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[Refusal | None]:
        """A place among the requests that are answered at once; a Refusal where the queue is too long."""
        if self._slots is None:
            self._slots = asyncio.Semaphore(AT_ONCE)
        busy = Refusal(503, "busy", "Too much is asked at once; come again a little later.", 2)
        if self._waiting >= WAITING:
            yield busy
            return
        self._waiting += 1
        try:
            await asyncio.wait_for(self._slots.acquire(), PATIENCE_S)
        except TimeoutError:
            yield busy
            return
        finally:
            self._waiting -= 1
        try:
            yield None
        finally:
            self._slots.release()

    @contextmanager
    def session(self, who: str) -> Iterator[bool]:
        """Whether one more browser session may be open; counted while it is."""
        free = self._sessions[who] < SESSIONS_EACH and self._sessions.total() < SESSIONS
        if free:
            self._sessions[who] += 1
        try:
            yield free
        finally:
            if free:
                self._sessions[who] -= 1
                self._sessions += Counter()  # drops those at nought
