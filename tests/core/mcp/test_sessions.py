"""Sessions: by connection, else by the client's name; bounded, and named by ids of ours alone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import anyio
import pytest

from core.access.caller import leave_caller
from core.events import user
from core.mcp.sessions import KEPT, Sessions, client_name


def context(name: str | None, connection: str | None = None, version: str = "2025-11-25", scope: Any = None) -> Any:
    info = None if name is None else SimpleNamespace(client_info=SimpleNamespace(name=name))
    request = None if connection is None else SimpleNamespace(headers={"mcp-session-id": connection}, scope=scope or {})
    return SimpleNamespace(session=SimpleNamespace(client_params=info), request=request, protocol_version=version)


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("Claude Desktop", "Claude-Desktop"),
        ("", "unknown"),
        ("  ", "unknown"),
        ("Мій помічник 2", "2"),
        ("a" * 90, "a" * 40),
        ("x\n</actor>", "x-actor"),
    ],
)
def test_the_name_of_a_client(given: str, name: str) -> None:
    """Short, of plain letters, never empty: it stands in events."""
    assert client_name(given) == name


def test_whose_session_it_is() -> None:
    """A connection's own; without connections the client's name; none of the transport's ids in the actor."""

    async def run() -> None:
        sessions = Sessions()
        one, two = sessions.of(context("a", "secret-1")), sessions.of(context("a", "secret-2"))
        assert one is not two and one is sessions.of(context("a", "secret-1"))
        modern = sessions.of(context("a", "whatever", "2026-07-28"))
        assert modern is sessions.of(context("a", "else", "2026-07-28")) and modern is not one
        assert sessions.of(context(None)).name == "unknown"
        actor, again = one.actor(), one.actor()
        assert actor.mission_id == again.mission_id and actor.iteration_id != again.iteration_id
        assert "secret" not in str(actor.as_json())

    anyio.run(run)


def test_no_more_than_the_token_behind_it() -> None:
    """An assistant has the roles of its token, and asks as that; a request that no guard let in has none."""

    async def run() -> None:
        sessions, scope = Sessions(), {}
        leave_caller(scope, user("token:1", "CRM", ("viewer",)))
        known, other = sessions.of(context("a", "s", scope=scope)), sessions.of(context("a", "s"))
        assert known.actor().roles == {"viewer"} and known is not other
        assert other.actor().roles == frozenset()
        assert sessions.of(context(None)).actor().roles == {"admin"}, "over standard input: who started us"

    anyio.run(run)


def test_sessions_are_bounded() -> None:
    """The one unused for longest goes; one in use stays."""

    async def run() -> None:
        sessions = Sessions()
        first = sessions.of(context("first"))
        for n in range(KEPT + 10):
            sessions.of(context(f"client-{n}"))
            assert sessions.of(context("first")) is first
        oldest = sessions.of(context(f"client-{KEPT + 9}"))
        assert oldest is sessions.of(context(f"client-{KEPT + 9}"))
        assert len(sessions._by_key) == KEPT

    anyio.run(run)
