"""One line of everything: nudges, insights, proposals, iterations, goals and conversations, newest first.

Titles and states alone; of a conversation its title, and none where that names a dialog. Source: CH-11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from core.access.roles import permit
from core.db.client import Database
from core.errors import InputError

Kind = Literal["nudge", "insight", "proposal", "iteration", "goal", "chat"]
KINDS: tuple[Kind, ...] = get_args(Kind)
PAGE, MOST = 30, 200
Cursor = tuple[datetime, str]


@dataclass(frozen=True)
class Item:
    """`id` is unique over all kinds; `detail` holds its status and a few figures."""

    kind: Kind
    id: str
    at: datetime
    module: str
    title: str | None
    detail: Mapping[str, Any]


@dataclass(frozen=True)
class FeedPage:
    """Newest first; `older` leads on, None at the end."""

    items: tuple[Item, ...]
    older: Cursor | None


class Feed:
    """Thread-safe. Source: companion_feed."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def read(
        self,
        kinds: Sequence[Kind] = (),
        *,
        module: str | None = None,
        before: Cursor | None = None,
        limit: int = PAGE,
    ) -> FeedPage:
        """Of these kinds, all where none is named, and of one module. Errors: Forbidden, InputError, DatabaseError."""
        permit("companion")
        if unknown := sorted(set(kinds) - set(KINDS)):
            raise InputError(f"There is no kind {unknown[0]}.", hint=f"Known: {', '.join(KINDS)}.", field="kinds")
        params = {
            "p_kinds": list(kinds) or None,
            "p_module": module,
            "p_before": before[0].isoformat() if before else None,
            "p_before_id": before[1] if before else None,
            "p_limit": max(1, min(limit, MOST)),
        }
        answer = self._db.rpc("companion_feed", params, read=True, returns=dict)
        items = tuple(
            Item(
                kind=row["kind"],
                id=row["id"],
                at=datetime.fromisoformat(row["at"]),
                module=row["module"],
                title=row["title"],
                detail=row["detail"],
            )
            for row in answer["rows"]
        )
        return FeedPage(items, (items[-1].at, items[-1].id) if answer["more"] and items else None)
