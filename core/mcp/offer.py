"""What a client is offered: every tool that policy does not deny, and three views that are read without arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mcp_types as types

from core.companion.act.act import Act
from core.companion.act.policy import PolicySet
from core.companion.act.toolbox import schema
from core.companion.contract import ModuleTool

SCHEME = "memory-desk://"
PROPOSES = "It is only proposed: a person approves it in Memory Desk before it runs."


@dataclass(frozen=True)
class View:
    """A resource: the answer of a tool that only reads, with these arguments."""

    name: str
    title: str
    tool: str
    params: Mapping[str, Any]
    says: str

    @property
    def uri(self) -> str:
        return f"{SCHEME}{self.name}"


VIEWS = (
    View("memory", "Memory", "memory_status", {}, "Chunks and dialogs, by source and by embedding model."),
    View(
        "usage", "Usage of the week", "usage_summary", {"range": "week", "group_by": "day"},
        "Tokens, calls and cost of the last seven days, by day.",
    ),
    View("health", "Health", "run_health_check", {}, "The state of every component."),
)  # fmt: skip


def offered(act: Act) -> list[types.Tool]:
    """The tools as a client is told of them. Errors: DatabaseError."""
    policies = act.policies.current()
    return [_tool(tool, policies) for tool in act.toolbox.all() if policies.decide(tool) != "deny"]


def views(act: Act) -> list[types.Resource]:
    """Those whose tool may be read at once. Errors: DatabaseError."""
    policies = act.policies.current()
    found = [(view, act.toolbox.find(view.tool)) for view in VIEWS]
    return [
        types.Resource(
            uri=view.uri, name=view.name, title=view.title, description=view.says, mime_type="application/json"
        )
        for view, tool in found
        if tool is not None and policies.decide(tool) == "auto"
    ]


def _tool(tool: ModuleTool, policies: PolicySet) -> types.Tool:
    proposes = policies.decide(tool) == "propose" or not tool.read_only
    return types.Tool(
        name=tool.name,
        title=tool.label,
        description=f"{tool.description} {PROPOSES}" if proposes else tool.description,
        input_schema=schema(tool)["function"]["parameters"],
        annotations=types.ToolAnnotations(
            title=tool.label,
            read_only_hint=tool.read_only,
            # A proposal changes nothing by itself, and nothing but what reads runs at once.
            destructive_hint=False,
            open_world_hint=False,
        ),
    )
