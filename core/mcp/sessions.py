"""Who is at the other end: one session per client, with its names of dialogs and the AI that its calls are told as."""

from __future__ import annotations

import re
import secrets
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from core.access.caller import caller_of
from core.companion.converse.llm.aliases import Aliases
from core.events.actor import Actor, ai

KEPT = 256  # sessions; the one unused for longest goes first, and with it its names of dialogs
AT_ONCE = 4  # calls of one session, so that one that floods leaves room for the others
RATIONALE = "An assistant connected over MCP asked for it."

_NOT_IN_A_NAME = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass
class Session:
    """Of one client. `roles`: of the token behind it, and `whom` its name; over standard input, of the one who started
    us. `mission_id` is ours: the transport's own session id is a secret and goes nowhere."""

    name: str
    roles: frozenset[str] = frozenset({"admin"})
    whom: str | None = None
    mission_id: str = field(default_factory=lambda: f"mcp:{secrets.token_hex(4)}")
    aliases: Aliases = field(default_factory=Aliases)
    turns: anyio.CapacityLimiter = field(default_factory=lambda: anyio.CapacityLimiter(AT_ONCE))

    def actor(self) -> Actor:
        """The AI of one call; the ids that clients give their requests begin anew in each process, ours do not."""
        return ai(
            f"mcp:{self.name}",
            f"{self.name} (MCP)",
            mission_id=self.mission_id,
            iteration_id=f"call-{secrets.token_hex(6)}",
            rationale=RATIONALE,
            roles=self.roles,
            on_behalf_of=self.whom,
        )


class Sessions:
    """Of one running server; used in its event loop alone."""

    def __init__(self) -> None:
        self._by_key: OrderedDict[tuple[str, str, str], Session] = OrderedDict()

    def of(self, context: ServerRequestContext[Any, Any]) -> Session:
        """A connection's session. The protocol has had none since 2026: there a client is known by its name."""
        params = context.session.client_params
        name = client_name(params.client_info.name if params else "")
        connection = ""
        if context.request is not None and context.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            connection = context.request.headers.get("mcp-session-id", "")
        caller = caller_of(context.request.scope) if context.request is not None else None
        key = (connection, name, caller.principal_id if caller else "")
        session = self._by_key.get(key)
        if session is None:
            session = self._by_key[key] = Session(name)
            while len(self._by_key) > KEPT:
                self._by_key.popitem(last=False)
        self._by_key.move_to_end(key)
        if context.request is not None:
            session.roles = caller.roles if caller else frozenset()
            session.whom = caller.display_name if caller else None
        return session


def client_name(given: str) -> str:
    """What a client calls itself, as a short word: it stands in events and on the Workbench."""
    return _NOT_IN_A_NAME.sub("-", given).strip("-.")[:40] or "unknown"
