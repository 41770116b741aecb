"""A short name for a person whose id is not shown: the same for everybody in one installation, and only there."""

from __future__ import annotations

import hashlib
import hmac
from typing import Literal

Side = Literal["RU", "TU"]


def person_alias(secret: bytes, side: Side, id: str) -> str:
    """`RU-7f3a9c`: who knows the id, but not the secret, cannot compute it."""
    digest = hmac.new(secret, f"{side}:{id}".encode("utf-8", "replace"), hashlib.sha256).hexdigest()
    return f"{side}-{digest[:6]}"
