"""Saved views as the database keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from core.db.client import Database
from core.events.event import Event


@dataclass(frozen=True)
class SavedView:
    """A view without what it shows. `mine`: of the one who asks; `by`: the name of its owner."""

    id: str
    page: str
    name: str
    shared: bool
    mine: bool
    by: str
    at: datetime


@dataclass(frozen=True)
class ViewState:
    """What a page shows: codes of its address, plain values (ids, numbers, choices), and words that somebody typed."""

    address: Mapping[str, str | list[str]] = field(default_factory=dict)
    plain: Mapping[str, Any] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)
    dialog_key: str | None = None

    def body(self) -> dict[str, Any]:
        """As it is stored; the dialog stands beside it."""
        return {"address": {**self.address}, "plain": {**self.plain}, "texts": {**self.texts}}


@dataclass(frozen=True)
class Opened:
    """A view with what it shows; `masked`: words that somebody else typed are not as they were."""

    view: SavedView
    state: ViewState
    masked: bool = False


class ViewStore:
    """Source: SQL functions desk_view_list, desk_view, desk_{save,rename,drop}_view. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def list(self, page: str, principal: str) -> tuple[SavedView, ...]:
        """Their own by name, then those of the team; 200 at most."""
        params = {"p_page": page, "p_principal": principal}
        return tuple(_view(row) for row in self._db.rpc("desk_view_list", params, read=True, returns=list))

    def get(self, id: str, page: str, principal: str) -> tuple[SavedView, ViewState | None] | None:
        """Without a state where it was deleted; None where this principal sees no such view of this page."""
        params = {"p_id": id, "p_page": page, "p_principal": principal}
        row = self._db.rpc("desk_view", params, read=True, returns=dict)
        if not row:
            return None
        state = None
        if not row["dropped"]:
            state = ViewState(**(row["state"] or {}), dialog_key=row["dialog_key"])
        return _view(row), state

    def save(
        self, id: str, owner: str, owner_name: str, view: SavedView, state: ViewState, limit: int, event: Event
    ) -> Mapping[str, Any]:
        """{id, replaced}, or {refused: too_many}."""
        params = {
            "p_id": id,
            "p_owner": owner,
            "p_owner_name": owner_name,
            "p_page": view.page,
            "p_name": view.name,
            "p_shared": view.shared,
            "p_dialog_key": state.dialog_key,
            "p_state": state.body(),
            "p_at": view.at.isoformat(),
            "p_limit": limit,
            "p_event": event.row(),
        }
        return self._db.rpc("desk_save_view", params, read=False, returns=dict)

    def rename(
        self, id: str, name: str, *, principal: str, admin: bool, at: datetime, event: Event
    ) -> Mapping[str, Any]:
        """{id}, or {refused: missing | not_yours | name_taken}."""
        return self._change("desk_rename_view", id, principal, admin, at, event, p_name=name)

    def drop(self, id: str, *, principal: str, admin: bool, at: datetime, event: Event) -> Mapping[str, Any]:
        """{id}, or {refused: missing | not_yours}."""
        return self._change("desk_drop_view", id, principal, admin, at, event)

    def _change(
        self, function: str, id: str, principal: str, admin: bool, at: datetime, event: Event, **more: Any
    ) -> Mapping[str, Any]:
        params = {
            "p_id": id,
            "p_principal": principal,
            "p_admin": admin,
            "p_at": at.isoformat(),
            "p_event": event.row(),
            **more,
        }
        return self._db.rpc(function, params, read=False, returns=dict)


def _view(row: Mapping[str, Any]) -> SavedView:
    return SavedView(
        id=row["id"],
        page=row["page"],
        name=row["name"],
        shared=row["shared"],
        mine=row["mine"],
        by=row["by"],
        at=datetime.fromisoformat(row["at"]),
    )
