"""Rules and tokens as the database keeps them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from core.access.rules import Kind, RoleRule
from core.access.tokens import ApiToken
from core.db.client import Database
from core.events.event import Event

CHECK_S = 5.0


class AccessStore:
    """Source: SQL functions desk_role_rule_list, desk_{set,drop}_role_rule, desk_api_token_list,
    desk_{create,revoke,check}_api_token. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def rules(self) -> tuple[RoleRule, ...]:
        rows = self._db.rpc("desk_role_rule_list", {}, read=True, returns=list)
        return tuple(
            RoleRule(r["kind"], r["value"], frozenset(r["roles"]), "database", r["id"], r["by"], r["at"]) for r in rows
        )

    def set_rule(
        self,
        id: str,
        kind: Kind,
        value: str,
        roles: Iterable[str],
        *,
        by: str,
        at: datetime,
        keep_admin: bool,
        ignored: Iterable[str],
        event: Event,
    ) -> Mapping[str, Any]:
        """{id, changed}, or {refused: last_admin}."""
        params = {
            "p_id": id,
            "p_kind": kind,
            "p_value": value,
            "p_roles": sorted(roles),
            "p_by": by,
            "p_at": at.isoformat(),
            "p_keep_admin": keep_admin,
            "p_ignored": [*ignored],
            "p_event": event.row(),
        }
        return self._db.rpc("desk_set_role_rule", params, read=False, returns=dict)

    def drop_rule(
        self, id: str, *, at: datetime, keep_admin: bool, ignored: Iterable[str], event: Event
    ) -> Mapping[str, Any]:
        """{dropped}, or {refused: last_admin}."""
        params = {
            "p_id": id,
            "p_at": at.isoformat(),
            "p_keep_admin": keep_admin,
            "p_ignored": [*ignored],
            "p_event": event.row(),
        }
        return self._db.rpc("desk_drop_role_rule", params, read=False, returns=dict)

    def tokens(self) -> tuple[ApiToken, ...]:
        """Those that are revoked last, else the newest first; 500 at most."""
        return tuple(_token(row) for row in self._db.rpc("desk_api_token_list", {}, read=True, returns=list))

    def create_token(self, token: ApiToken, hash: str, limit: int, event: Event) -> Mapping[str, Any]:
        """{id}, or {refused: too_many}."""
        params = {
            "p_id": token.id,
            "p_hash": hash,
            "p_name": token.name,
            "p_roles": sorted(token.roles),
            "p_reveal_reason": token.reveal_reason,
            "p_by": token.created_by,
            "p_at": token.created_at.isoformat(),
            "p_expires_at": token.expires_at.isoformat() if token.expires_at else None,
            "p_limit": limit,
            "p_event": event.row(),
        }
        return self._db.rpc("desk_create_api_token", params, read=False, returns=dict)

    def revoke_token(self, id: str, at: datetime, event: Event) -> bool:
        """False where it was revoked already, or there is none."""
        params = {"p_id": id, "p_at": at.isoformat(), "p_event": event.row()}
        return bool(self._db.rpc("desk_revoke_api_token", params, read=False, returns=dict)["revoked"])

    def check(self, hash: str, now: datetime) -> Mapping[str, Any]:
        """The token with this hash, {} for none. Sent again where the way broke: noting its use twice harms nobody."""
        params = {"p_hash": hash, "p_now": now.isoformat()}
        return self._db.rpc("desk_check_api_token", params, read=True, returns=dict, timeout_s=CHECK_S)


def _token(row: Mapping[str, Any]) -> ApiToken:
    moments = {
        name: datetime.fromisoformat(row[name]) if row[name] else None
        for name in ("expires_at", "last_used_at", "revoked_at")
    }
    return ApiToken(
        id=row["id"],
        name=row["name"],
        roles=frozenset(row["roles"]),
        reveal_reason=row["reveal_reason"],
        created_by=row["created_by"],
        created_at=datetime.fromisoformat(row["created_at"]),
        **moments,
    )
