"""The rules that hold now: those of the settings, and those of the database as they were at most two seconds ago."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from core.access.roles import Role
from core.access.rules import RoleRule, configured, default_roles, is_public, roles_for
from core.access.store import AccessStore
from core.config import Settings
from core.errors import CoreError, SchemaMismatch

FRESH_S = 2.0
STALE_S = 600.0  # for so long the last answer stands in while the database, in which they are changed, is away


class Rulebook:
    """Thread-safe; one per process. Asked before anybody has a role, so no permission is needed."""

    def __init__(self, store: AccessStore, settings: Settings, seconds: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._settings = settings
        self._seconds = seconds
        self._configured = configured(settings)
        self._lock = threading.Lock()
        self._stored: tuple[RoleRule, ...] = ()
        self._at: float | None = None
        self._asked: float | None = None
        self._turn = 0

    @property
    def configured(self) -> tuple[RoleRule, ...]:
        return self._configured

    def in_force(self) -> tuple[RoleRule, ...]:
        """Errors: DatabaseError where the database has not answered for ten minutes."""
        return self._configured + self._of_database()

    def roles_of(self, claims: Mapping[str, Any], provider: str = "") -> frozenset[Role]:
        """The roles of whoever signed in with these claims; `provider`: the URL of its metadata, else its issuer.

        Errors: DatabaseError where nobody can say.
        """
        public = is_public(provider or str(claims.get("iss") or ""))
        return roles_for(claims, self.in_force(), default_roles(self._settings, public), public=public)

    def forget(self) -> None:
        """Ask the database again: a rule was changed here."""
        with self._lock:
            self._asked = None
            self._turn += 1

    def _of_database(self) -> tuple[RoleRule, ...]:
        now = self._seconds()
        with self._lock:
            if self._asked is not None and now - self._asked < FRESH_S:
                return self._stored
            turn = self._turn
        try:
            found = self._store.rules()
        except SchemaMismatch:
            found = ()  # not migrated yet: whoever may is named in the settings
        except CoreError as error:
            with self._lock:
                if not error.retryable or self._at is None or now - self._at > STALE_S:
                    raise
                self._asked = now
                return self._stored
        with self._lock:
            if turn == self._turn:
                self._stored, self._at, self._asked = found, now, now
        return found
