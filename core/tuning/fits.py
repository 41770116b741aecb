"""What searches for better boosts found, and with which queries: no profile proves itself on what it was found with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from core.db.client import Database
from core.events.event import Event
from core.memory.retrieval import Profile
from core.tuning.fit import Fit
from core.tuning.judged import Judged


@dataclass(frozen=True)
class Fitted:
    """Of a profile on one query set: ids of its fits, of the queries that they saw, and keys of their dialogs."""

    fits: frozenset[str] = field(default_factory=frozenset)
    seen: frozenset[str] = field(default_factory=frozenset)
    dialogs: frozenset[str] = field(default_factory=frozenset)

    def __or__(self, other: Fitted) -> Fitted:
        return Fitted(self.fits | other.fits, self.seen | other.seen, self.dialogs | other.dialogs)

    def unseen(self, pool: Sequence[Judged]) -> list[Judged]:
        """The queries of dialogs that no fit saw."""
        return [one for one in pool if one.query.dialog_key not in self.dialogs]


class Fits:
    """Thread-safe. Source: SQL functions desk_fitted, desk_add_fit. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def of(self, query_set: str, profile: Profile) -> Fitted:
        """A stored version by its proposal, any other profile by its numbers."""
        params = {"p_query_set": query_set, "p_body": profile.as_json(), "p_version": profile.version}
        answer = self._db.rpc("desk_fitted", params, read=True, returns=dict)
        return Fitted(*(frozenset(answer[name]) for name in ("fits", "seen", "dialogs")))

    def add(self, id: str, found: Fit, plan: Mapping[str, Any], before: Fitted, event: Event) -> bool:
        """Keep a fit with its event; `before`: of the profile that the search started from. False: kept already."""
        row = {
            "id": id,
            **plan,
            "body": found.profile.as_json(),
            "seen": sorted({*found.train_ids, *before.seen}),
            "train": None if found.train is None else asdict(found.train),
            "held_out": None if found.held_out is None else asdict(found.held_out),
            "train_queries": found.train_queries,
            "held_out_queries": found.held_out_queries,
        }
        params = {"p_row": row, "p_event": event.row()}
        return bool(self._db.rpc("desk_add_fit", params, read=False, returns=dict)["added"])
