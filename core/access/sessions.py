"""Whether a sign-in still holds, and with which roles: asked at every run of every page."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from core.access.people import Person
from core.access.rulebook import Rulebook
from core.access.sign_in import SignIn, sign_in_of
from core.clock import Clock
from core.db.client import Database
from core.errors import CoreError, Unauthenticated
from core.events.actor import Actor, user
from core.events.emitter import Events
from core.events.event import Event

FRESH_S = 2.0
STALE_S = 600.0  # for so long the last answer stands in while the database is away
TOLD_S = 3600.0
LEAVING_S = 60.0
KEPT = 5_000
AHEAD = timedelta(minutes=5)  # by which a provider's clock may be before ours


class NotSignedIn(Unauthenticated):
    """Nobody, or somebody whose sign-in is over; `why`: nobody, expired or ended."""

    code = "not_signed_in"

    def __init__(self, why: str, what: str) -> None:
        super().__init__(what, hint="Sign in.")
        self.why = why


class Sessions:
    """Thread-safe; one per process. `hours`: how long a sign-in holds from the moment of its id token."""

    def __init__(
        self,
        db: Database,
        events: Events,
        clock: Clock,
        rulebook: Rulebook,
        hours: float,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._rulebook = rulebook
        self._hours = hours
        self._seconds = seconds
        self._lock = threading.Lock()
        self._seen: OrderedDict[str, tuple[float, float, bool]] = OrderedDict()  # asked, answered, over
        self._silent: OrderedDict[str, float] = OrderedDict()  # until when no refusal of it is told

    def actor_of(self, claims: Mapping[str, Any]) -> Actor:
        """Who it is, with the roles of now. Errors: NotSignedIn; DatabaseError where nobody can say."""
        found = sign_in_of(claims)
        if found is None:
            raise NotSignedIn("nobody", "Nobody is signed in.")
        if not found.began - AHEAD <= self._clock.now() < found.began + timedelta(hours=self._hours):
            self._refused(found, "expired")
            raise NotSignedIn("expired", "Your sign-in has expired.")
        if self._is_over(found):
            self._refused(found, "ended")
            raise NotSignedIn("ended", "Your sign-in was ended.")
        roles = self._rulebook.roles_of(claims)
        if not roles:
            self._refused(found, "no_role")
        return user(found.principal_id, found.display_name, roles)

    def end(self, claims: Mapping[str, Any]) -> None:
        """Somebody signs out: no copy of their cookie opens anything any more. Errors: DatabaseError."""
        found = sign_in_of(claims)
        if found is None:
            return
        event = self._events.prepare("SignedOut", {}, actor=user(found.principal_id, found.display_name))
        with self._lock:
            self._seen[found.id] = (self._seconds(), self._seconds(), True)
            self._silent[found.id] = self._seconds() + LEAVING_S
        params = {"p_id": found.id, "p_at": self._clock.now().isoformat(), "p_event": event.row()}
        if self._db.rpc("desk_end_sign_in", params, read=False, returns=dict)["ended"]:
            self._events.announce(event)

    def people(self) -> tuple[Person, ...]:
        """Whoever was here, the latest first. Errors: DatabaseError."""
        params = {"p_at": self._clock.now().isoformat(), "p_hours": self._hours}
        rows: Any = self._db.rpc("desk_people_list", params, read=True, returns=list)
        return tuple(
            Person(
                row["principal_id"],
                row["display_name"],
                self._rulebook.roles_of(row["claims"]),
                datetime.fromisoformat(row["last_seen"]),
                int(row["sessions"]),
            )
            for row in rows
        )

    def end_sessions(self, principal_id: str, at: datetime, event: Event) -> int | None:
        """End all that began before `at`; how many were open, None for nobody of that id. Errors: DatabaseError."""
        params = {
            "p_principal_id": principal_id,
            "p_at": at.isoformat(),
            "p_hours": self._hours,
            "p_event": event.row(),
        }
        answer: Any = self._db.rpc("desk_end_sign_ins", params, read=False, returns=dict)
        with self._lock:
            self._seen.clear()
        return int(answer["sessions"]) if answer["found"] else None

    def _refused(self, found: SignIn, why: str) -> None:
        """Told once an hour for each sign-in, and not while a browser is about to leave."""
        now = self._seconds()
        with self._lock:
            if self._silent.get(found.id, now) > now:
                return
            self._silent[found.id] = now + TOLD_S
            self._silent.move_to_end(found.id)
            while len(self._silent) > KEPT:
                self._silent.popitem(last=False)
        who = user(found.principal_id, found.display_name)
        told = {"person": found.principal_id, "why": why}
        self._events.emit("SignInRefused", told, actor=who, record_id=found.principal_id)

    def _is_over(self, found: SignIn) -> bool:
        now = self._seconds()
        with self._lock:
            asked, answered, over = self._seen.get(found.id, (None, None, False))
        if over or (asked is not None and now - asked < FRESH_S):
            return over
        who = user(found.principal_id, found.display_name)
        event = self._events.prepare("SignedIn", {}, actor=who, record_id=found.principal_id)
        params = {
            "p_id": found.id,
            "p_principal_id": found.principal_id,
            "p_name": found.display_name,
            "p_claims": found.claims,
            "p_began": found.began.isoformat(),
            "p_at": self._clock.now().isoformat(),
            "p_event": event.row(),
        }
        try:
            answer: Any = self._db.rpc("desk_see_sign_in", params, read=False, returns=dict)
        except CoreError as error:
            if not error.retryable or answered is None or now - answered > STALE_S:
                raise
            answer, now_answered = {"ended": over, "new": False}, answered
        else:
            now_answered = now
        if answer["new"]:
            self._events.announce(event)
        with self._lock:
            self._seen[found.id] = (now, now_answered, bool(answer["ended"]))
            self._seen.move_to_end(found.id)
            while len(self._seen) > KEPT:
                self._seen.popitem(last=False)
        return bool(answer["ended"])
