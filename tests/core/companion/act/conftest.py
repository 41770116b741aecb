"""A toolbox of small tools over the real store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.act import Act, open_act
from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.settings import CompanionSettings
from core.events.actor import Actor, ai, current_actor

TEXT = Parameter("title", "string", "What it is called.", required=True)
SIZE = Parameter("size", "integer", "How large.", minimum=1, maximum=24)


class Bench:
    """Tools that note their runs, and the wing over them; `shelf` is what `shelve` would change."""

    def __init__(self, core: Core) -> None:
        self.core = core
        self.runs: list[tuple[str, Mapping[str, Any], Actor | None]] = []
        self.shelf = ["a"]
        self.fails = False
        tools = (
            self._tool("look", "auto", read_only=True),
            self._tool("shelve", "propose", (TEXT, SIZE), target=lambda p: {"shelf": self.shelf}),
            self._tool("burn", "deny", (TEXT,)),
            self._tool("retitle", "propose", (Parameter("dialog_key", "string", "Which dialog."), TEXT)),
        )
        module = Module("bench", "Bench", "personal", (), Section(lambda day: {}, {}), tools)
        self.act: Act = open_act(core.db, core.events, core.clock, CompanionSettings(core.db), [module])

    def again(self) -> Act:
        """The wing of another process on the same database."""
        module = Module("bench", "Bench", "personal", (), Section(lambda day: {}, {}), self.act.toolbox.all())
        return open_act(self.core.db, self.core.events, self.core.clock, CompanionSettings(self.core.db), [module])

    def _tool(self, name: str, policy: Any, parameters: tuple[Parameter, ...] = (), **more: Any) -> ModuleTool:
        def execute(params: Mapping[str, Any]) -> ToolResult:
            if self.fails:
                raise RuntimeError("row of ru-4711: she wrote hello")
            self.runs.append((name, params, current_actor()))
            return ToolResult(True, f"{name}: done.", {"text": "full"}, {"n": 1})

        return ModuleTool(name, "bench", name.title(), f"To {name}.", execute, "usage", policy, "personal", parameters,
                          **more)  # fmt: skip


@pytest.fixture
def bench(core: Core) -> Bench:
    return Bench(core)


@pytest.fixture
def agent() -> Actor:
    return agent_of("mission-1", "iteration-1")


def agent_of(mission: str, iteration: str, why: str = "The shelf is full.") -> Actor:
    return ai("planner", "Planner", mission_id=mission, iteration_id=iteration, rationale=why)
