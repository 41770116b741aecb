"""Names that are answered to, and pages that may open a WebSocket."""

from __future__ import annotations

import pytest

from core.api.web.hosts import host_name, is_allowed, names_of, same_origin

LOCAL = names_of((), "127.0.0.1", None)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("desk.example:8501", "desk.example"),
        ("DESK.Example.", "desk.example"),
        ("[::1]:8501", "::1"),
        ("", None),
        ("a b", None),
        ("desk.example@127.0.0.1", None),
        ("127.0.0.1/x", None),
        ("[::1", None),
        ("127.0.0.1:port", None),
        ("127.0.0.1; script-src *", None),
    ],
)
def test_a_host_header_is_a_name_and_a_port(header: str, name: str | None) -> None:
    """Anything else is no such header, so that it can stand in a policy as it is."""
    assert host_name(header) == name


@pytest.mark.parametrize("header", ["localhost:8501", "127.0.0.1:1", "[::1]:8501", "127.5.5.5", "LOCALHOST"])
def test_loopback_names_are_answered_to(header: str) -> None:
    """Listening on this machine alone."""
    assert is_allowed(header, LOCAL)


@pytest.mark.parametrize(
    "header", ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "192.0.2.7", ""]
)
def test_a_name_bound_to_loopback_by_another_site_is_not(header: str) -> None:
    """DNS rebinding: the address is right, the name is not."""
    assert not is_allowed(header, LOCAL)


def test_the_redirect_of_the_sign_in_names_the_host() -> None:
    """Behind a proxy the name of the redirect is the one people use; others are not added."""
    names = names_of((), "0.0.0.0", "https://desk.example/oauth2callback", ["box"])
    assert is_allowed("desk.example", names)
    assert is_allowed("box:8501", names)
    assert not is_allowed("other.example", names)
    assert not is_allowed("192.0.2.7", names)


def test_open_addresses_without_a_name_take_addresses() -> None:
    """Nothing is configured: an IP address as Host is no name that could be rebound."""
    names = names_of((), "0.0.0.0", None, ["box"])
    assert is_allowed("192.0.2.7:8501", names)
    assert is_allowed("[2001:db8::1]:8501", names)
    assert not is_allowed("evil.example", names)


def test_what_is_configured_holds_alone() -> None:
    """With MEMORY_DESK_ALLOWED_HOSTS nothing is guessed; a star stands for what is below a name, not for the name."""
    names = names_of(("*.example.org",), "0.0.0.0", "https://desk.example/oauth2callback", ["box"])
    assert is_allowed("desk.example.org", names)
    assert is_allowed("localhost", names)
    assert not is_allowed("example.org", names)
    assert not is_allowed("evilexample.org", names)
    assert not is_allowed("desk.example", names)


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        (None, "desk.example", True),
        ("https://desk.example", "desk.example", True),
        ("https://desk.example", "desk.example:443", True),
        ("http://127.0.0.1:8501", "127.0.0.1:8501", True),
        ("http://127.0.0.1:9999", "127.0.0.1:8501", False),
        ("http://localhost:8501", "127.0.0.1:8501", False),
        ("https://evil.example", "desk.example", False),
        ("https://desk.example.evil.example", "desk.example", False),
        ("null", "desk.example", False),
        ("file://desk.example", "desk.example", False),
        ("http://[half", "desk.example", False),
    ],
)
def test_only_a_page_of_this_host_is_of_the_same_origin(origin: str | None, host: str, same: bool) -> None:
    """Another port of this machine is another page."""
    assert same_origin(origin, host) is same
