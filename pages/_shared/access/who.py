"""What is known of the one who is here as the provider said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages._shared import session


def sign_in() -> bool:
    """Whether sign-in is set up here."""
    asked = getattr(session, "sign_in_configured", None)
    return bool(asked()) if asked else False


def claims() -> Mapping[str, Any] | None:
    """The claims of whoever is signed in, None without sign-in."""
    asked = getattr(session, "claims", None)
    found: Mapping[str, Any] | None = asked() if asked else None
    return found or None
