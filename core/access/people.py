"""People who signed in, as the Access page shows them; kept by whatever sees them come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from core.events.event import Event


@dataclass(frozen=True)
class Person:
    """Somebody who signed in: `oidc:<hash>`, the name their provider gave, their roles by the rules of now."""

    principal_id: str
    display_name: str
    roles: frozenset[str]
    last_seen: datetime
    sessions: int = 0  # that are open now


class Directory(Protocol):
    """Source of people and end of their sessions. Errors: DatabaseError."""

    def people(self) -> tuple[Person, ...]:
        """Whoever was here, the latest first."""

    def end_sessions(self, principal_id: str, at: datetime, event: Event) -> int | None:
        """End all that began before `at`, with the event in one transaction; how many, None for nobody of that id."""
