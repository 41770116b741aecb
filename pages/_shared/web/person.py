"""Whose browser asks, as far as it has to be counted: told by Streamlit's own signed cookie."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from streamlit.auth_util import get_cookie_with_chunks
from streamlit.web.server.server_util import get_cookie_secret
from streamlit.web.server.starlette.starlette_app_utils import decode_signed_value
from streamlit.web.server.starlette.starlette_server_config import USER_COOKIE_NAME


def person(cookies: Mapping[str, str]) -> str | None:
    """A name that says nothing and stays the same for one person; None for a cookie that is none of ours.

    A cookie that was made up would otherwise be a new person with each request.
    """
    secret = get_cookie_secret()
    if not secret or USER_COOKIE_NAME not in cookies:
        return None

    def one(name: str) -> bytes | None:
        value = cookies.get(name)
        return decode_signed_value(secret, name, value.encode("latin-1", "replace")) if value else None

    try:
        claims = json.loads(get_cookie_with_chunks(one, USER_COOKIE_NAME) or b"null")
    except ValueError:
        return None
    if not isinstance(claims, dict) or not claims.get("sub"):
        return None
    return "person " + hashlib.sha256(f"{claims.get('iss')}|{claims['sub']}".encode()).hexdigest()[:16]
