"""This installation as the middleware sees it: Streamlit's options, its sign-in and its page."""

from __future__ import annotations

import base64
import hashlib
import re
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from streamlit.auth_util import get_secrets_auth_section
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.runtime.memory_media_file_storage import _calculate_file_id

from core.api.web import Site, names_of
from pages._shared.lifespan import bound_address
from pages._shared.resources import settings
from pages._shared.session import sign_in_configured
from pages._shared.web.person import person

# Buttons of Streamlit's own menu, which is not shown: they would empty everybody's caches, or show files of ours.
NEVER = ("clear_cache", "set_run_on_save", "load_git_info", "debug_disconnect_websocket", "debug_shutdown_runtime")


def site() -> Site:
    """Errors: ConfigError."""
    known = settings()
    redirect = redirect_uri(get_secrets_auth_section())
    parts = urlsplit(redirect or "")
    return Site(
        names=names_of(known.allowed_hosts, bound_address(), redirect, (socket.gethostname(), socket.getfqdn())),
        scripts=inline_scripts((Path(st.__file__).parent / "static/index.html").read_text(encoding="utf-8")),
        base_path=("/" + st.get_option("server.baseUrlPath").strip("/")).rstrip("/"),
        https_hosts=frozenset({parts.hostname} if parts.scheme == "https" and parts.hostname else ()),
        rate_per_minute=known.rate_per_minute,
        person=person,
        signed=sign_in_configured(),
        public=frozenset({icon_path()}),
    )


def icon_path() -> str:
    """Where Streamlit serves the icon: the sign-in page shows it, and the tab of whoever is not signed in."""
    data = (Path(__file__).parent.parent / "icon.png").read_bytes()
    return f"/media/{_calculate_file_id(data, 'image/png')}.png"


def redirect_uri(section: Mapping[str, Any]) -> str | None:
    """Where the sign-in provider sends people back to; None without sign-in."""
    found = section.get("redirect_uri")
    return found if isinstance(found, str) and found else None


def inline_scripts(page: str) -> tuple[str, ...]:
    """SHA-256 in base64 of each script that stands in the page itself."""
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    return tuple(base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in scripts)


def never_asked(data: bytes) -> bool:
    """Whether a message of a browser asks for something that no page of ours offers."""
    message = BackMsg()
    try:
        message.ParseFromString(data)
    except Exception:  # no message at all: Streamlit closes the connection over it
        return False
    return message.WhichOneof("type") in NEVER
