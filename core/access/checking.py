"""Whether a token that somebody shows is in force: asked of the database, and remembered for a few seconds."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from core.access.store import AccessStore
from core.access.tokens import SHAPE, Bearer, bearer, digest
from core.clock import Clock
from core.errors import Unauthenticated

FRESH_S = 5.0  # a token that another process revoked is answered for so long at most
KEPT = 512

SEND = "Send Authorization: Bearer <token>."


class TokenCheck:
    """Thread-safe; one per process. Only tokens in force are remembered, by their hash."""

    def __init__(self, store: AccessStore, clock: Clock, seconds: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._known: OrderedDict[str, tuple[Bearer, float]] = OrderedDict()
        self._turn = 0

    def __call__(self, token: str) -> Bearer:
        """Who shows it. Errors: Unauthenticated for one that opens nothing; DatabaseError where nobody can say."""
        if not SHAPE.fullmatch(token):
            raise Unauthenticated("The API token is not valid.", hint=SEND)
        hash = digest(token)
        now = self._clock.now()
        with self._lock:
            kept, turn = self._known.get(hash), self._turn
        if kept is not None and self._seconds() - kept[1] < FRESH_S:
            if kept[0].expires_at is not None and kept[0].expires_at <= now:
                raise _expired()
            return kept[0]
        asked = self._seconds()
        row = self._store.check(hash, now)
        if not row:
            raise Unauthenticated("The API token is not valid.", hint=SEND)
        # Whoever is told so has shown the whole secret: a guess never gets here.
        if row["revoked"]:
            raise Unauthenticated("The API token was revoked.", hint="Ask an administrator for another one.")
        if row["expired"]:
            raise _expired()
        found = bearer(row)
        with self._lock:
            if turn == self._turn:  # else something was revoked while the database answered
                self._known[hash] = (found, asked)
                self._known.move_to_end(hash)
                while len(self._known) > KEPT:
                    self._known.popitem(last=False)
        return found

    def forget(self) -> None:
        """Ask again about every token: something was revoked."""
        with self._lock:
            self._known.clear()
            self._turn += 1


def _expired() -> Unauthenticated:
    return Unauthenticated("The API token has expired.", hint="Ask an administrator for another one.")
