"""What is known of the one who is here as the provider said it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pages._shared import session


def sign_in() -> bool:
    """Whether sign-in is set up here."""
    return session.sign_in_configured()


def claims() -> Mapping[str, Any] | None:
    """The claims of whoever is signed in, None without sign-in."""
    return session.claims() if session.sign_in_configured() else None
