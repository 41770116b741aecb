"""Tokens of the API: how one looks, what is stored of it, and what a program may that shows it. Pure."""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from core.access.roles import Role, allowed, who_may
from core.errors import InputError
from core.events.actor import Actor, user

SHAPE = re.compile(r"md_[a-z0-9]{8,32}_[A-Za-z0-9]{43}")
DEFAULT_DAYS = 90
DAYS = 3_650
NAME_LIMIT = 80
REASON = (3, 200)
_LETTERS = string.ascii_letters + string.digits

State = Literal["in force", "expired", "revoked"]


@dataclass(frozen=True)
class ApiToken:
    """A token without its secret. `reveal_reason`: why its answers are unmasked; None, they are masked."""

    id: str
    name: str
    roles: frozenset[str]
    reveal_reason: str | None
    created_by: str
    created_at: datetime
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    revoked_at: datetime | None = None

    def state(self, now: datetime) -> State:
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "in force"

    def as_json(self, now: datetime) -> dict[str, Any]:
        moments = {name: getattr(self, name) for name in ("created_at", "expires_at", "last_used_at", "revoked_at")}
        return {
            "id": self.id,
            "name": self.name,
            "roles": sorted(self.roles),
            "state": self.state(now),
            "reveal_reason": self.reveal_reason,
            "created_by": self.created_by,
            **{name: at.isoformat() if at else None for name, at in moments.items()},
        }


@dataclass(frozen=True)
class Bearer:
    """Who shows a token that is in force: the actor, and why it is answered unmasked (None: it is not)."""

    actor: Actor
    reason: str | None
    expires_at: datetime | None = None


def new_token() -> tuple[str, str]:
    """An id and the whole token `md_<id>_<secret>`, whose secret has 256 random bits."""
    id = "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(10))
    return id, f"md_{id}_{''.join(secrets.choice(_LETTERS) for _ in range(43))}"


def digest(token: str) -> str:
    """What is stored: SHA-256 of the whole token, in hex."""
    return hashlib.sha256(token.encode()).hexdigest()


def check(name: str, roles: Iterable[str], reveal_reason: str | None) -> None:
    """Errors: InputError naming the field of a token that cannot be made."""
    held = frozenset(roles)
    if not name or len(name) > NAME_LIMIT or not name.isprintable():
        raise InputError(f"A token has a name of 1 to {NAME_LIMIT} characters.", field="name")
    if not held or not held <= set(get_args(Role)):
        raise InputError("A token has at least one role.", hint=f"Known: {', '.join(get_args(Role))}.", field="roles")
    if reveal_reason is None:
        return
    if not REASON[0] <= len(reveal_reason) <= REASON[1] or not reveal_reason.isprintable():
        raise InputError(f"A reason has {REASON[0]} to {REASON[1]} characters.", field="reveal_reason")
    if held.isdisjoint(who_may("reveal")):
        raise InputError(
            "None of its roles may see personal data, so its answers are masked.",
            hint=f"Leave the reason out, or add one of {', '.join(who_may('reveal'))}.",
            field="reveal_reason",
        )


def bearer(row: Mapping[str, Any]) -> Bearer:
    """Who shows the token of this row of desk_check_api_token."""
    actor = user(f"token:{row['id']}", row["name"], row["roles"])
    expires = row.get("expires_at")
    return Bearer(
        actor,
        row.get("reveal_reason") if allowed(actor, "reveal") else None,
        datetime.fromisoformat(expires) if expires else None,
    )
