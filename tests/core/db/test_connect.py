"""Proxies: honoured for a hosted project, never for this machine."""

from __future__ import annotations

import pytest

from core.db.connect import _proxy


def test_loopback_traffic_stays_on_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy set for the outside does not get the embedded database's requests."""
    monkeypatch.setenv("http_proxy", "http://proxy.example:3128")
    monkeypatch.setenv("https_proxy", "proxy.example:3128")
    monkeypatch.setenv("no_proxy", "inside.example")
    assert _proxy("http://127.0.0.1:5001") is None
    assert _proxy("http://localhost:5001") is None
    assert _proxy("https://inside.example") is None
    assert _proxy("http://abc.example") == "http://proxy.example:3128"
    assert _proxy("https://abc.example") == "http://proxy.example:3128"
