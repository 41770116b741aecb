"""Headers by what is served."""

from __future__ import annotations

import pytest

from core.api.web.policy import NOTHING, content_policy, headers_for, kind_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "page"),
        ("/dialogs", "page"),
        ("/static/js/index.js", "page"),
        ("/stack-ai/tips/memory/search", "api"),
        ("/stack-ai/mcp", "api"),
        ("/stack-airport", "page"),
        ("/media/abc.png", "media"),
        ("/_stcore/upload_file/s/f", "service"),
        ("/oauth2callback", "service"),
        ("/auth/login", "service"),
    ],
)
def test_kinds(path: str, kind: str) -> None:
    """Told by the path alone."""
    assert kind_of(path) == kind


def test_scripts_are_of_this_host_or_known_by_their_hash() -> None:
    """No inline script, no eval, no other host, no frame round us."""
    policy = dict(part.split(" ", 1) for part in content_policy(["abc="], "desk.example").split("; "))
    assert policy["script-src"] == "'self' 'sha256-abc='"
    assert policy["frame-ancestors"] == "'none'"
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self' ws://desk.example wss://desk.example"
    given = " ".join(value for name, value in policy.items() if name not in ("connect-src",))
    assert "http" not in given
    assert "*" not in given
    assert "eval" not in given


@pytest.mark.parametrize("kind", ["api", "media", "service", "page"])
def test_every_answer_has_the_same_guards(kind: str) -> None:
    """Not sniffed, not framed, not shared; HSTS on https alone; only the page's own files may be kept."""
    plain = dict(headers_for(kind, policy="p", secure=False))  # type: ignore[arg-type]
    secure = dict(headers_for(kind, policy="p", secure=True))  # type: ignore[arg-type]
    assert plain[b"x-content-type-options"] == b"nosniff"
    assert plain[b"x-frame-options"] == b"DENY"
    assert plain[b"cross-origin-resource-policy"] == b"same-origin"
    assert b"strict-transport-security" not in plain
    assert secure[b"strict-transport-security"] == b"max-age=31536000"
    assert (plain.get(b"cache-control") == b"no-store") is (kind != "page")
    assert plain[b"content-security-policy"] == (b"p" if kind in ("page", "service") else NOTHING.encode())
