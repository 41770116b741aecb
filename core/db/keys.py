"""Which role an API key stands for, read from the key's own form and never verified: the database decides."""

from __future__ import annotations

import base64
import json
from typing import Literal

KeyRole = Literal["service_role", "anon", "unknown"]


def key_role(key: str) -> KeyRole:
    """The role a key will act as; `unknown` for a form that names none.

    Row-level security hides every row from `anon`: an empty table then looks like a working one, so Health asks.
    """
    if key.startswith("sb_secret_"):
        return "service_role"
    if key.startswith("sb_publishable_"):
        return "anon"
    parts = key.split(".")
    if len(parts) != 3:
        return "unknown"
    try:
        claims = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
        role = claims.get("role")
    except (ValueError, AttributeError):
        return "unknown"
    return role if role in ("service_role", "anon") else "unknown"
