"""The headers that tell a browser what a page of ours may do, and what may be kept of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

Kind = Literal["api", "media", "service", "page"]
Headers = list[tuple[bytes, bytes]]

API_ROOT = "/stack-ai/"
# Of Streamlit's own: figures of the process, and an interface for other people's agents that is off.
CLOSED = ("/_stcore/metrics", "/_stcore/agent", "/_stcore/script-health-check")
HEALTH = "/_stcore/health"
YEAR_S = 365 * 24 * 3600
PERMISSIONS = (
    "accelerometer=(), autoplay=(), browsing-topics=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
    "hid=(), magnetometer=(), microphone=(), midi=(), payment=(), serial=(), usb=(), xr-spatial-tracking=()"
)


def kind_of(path: str) -> Kind:
    """What a path below the base path serves. `service`: everything of Streamlit's that is no file of its page."""
    if path.startswith(API_ROOT):
        return "api"
    if path.startswith("/media/"):
        return "media"
    service = path.startswith(("/_stcore/", "/auth/", "/oauth2callback"))
    return "service" if service else "page"


def content_policy(scripts: Iterable[str], host: str | None) -> str:
    """Content-Security-Policy of the pages. `scripts`: hashes of the scripts inside Streamlit's index.html.

    Styles may be inline: Streamlit writes <style> elements at run time, and so does plotly. Scripts may not.
    `host`: an allowed Host header; named for WebSocket, since older browsers do not count ws: to 'self'.
    """
    sockets = f" ws://{host} wss://{host}" if host else ""
    return "; ".join(
        (
            "default-src 'none'",
            " ".join(("script-src 'self'", *(f"'sha256-{digest}'" for digest in scripts))),
            "script-src-attr 'none'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "media-src 'self' blob:",
            f"connect-src 'self'{sockets}",
            "worker-src 'self' blob:",
            "manifest-src 'self'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )


NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"


def headers_for(kind: Kind, *, policy: str, secure: bool) -> Headers:
    """Headers to put in place of whatever the application gave under these names."""
    found = {
        "Content-Security-Policy": policy if kind in ("page", "service") else NOTHING,
        "X-Frame-Options": "DENY",
        "X-Content-Type-Options": "nosniff",
        "Referrer-Policy": "same-origin",
        "Permissions-Policy": PERMISSIONS,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
    }
    if secure:
        found["Strict-Transport-Security"] = f"max-age={YEAR_S}"
    if kind != "page":
        found["Cache-Control"] = "no-store"
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in found.items()]
