"""Routines over the real store and tools, or over tools of the test's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.act.act import open_act
from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.converse.rituals.opening import Routines, open_routines
from core.companion.converse.rituals.ritual import Ritual
from core.companion.converse.rituals.rituals import drafted
from core.companion.converse.rituals.step import Step
from core.companion.modules.pilot import pilot_modules
from core.companion.records.records import Records
from core.events.actor import LOCAL_OPERATOR

Make = Callable[..., Ritual]


class Bench:
    """A module of three tools that note their calls: `note` (text, number), `breaks` (fails while `bad`), `find`."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, Mapping[str, Any]]] = []
        self.bad = True

    def module(self) -> Module:
        def tool(name: str, run: Callable[[Mapping[str, Any]], ToolResult], *parameters: Parameter) -> ModuleTool:
            def noted(given: Mapping[str, Any]) -> ToolResult:
                self.calls.append((name, dict(given)))
                return run(given)

            return ModuleTool(
                name, "bench", name, name, noted, "own_day_change", "auto", "personal", parameters, read_only=True
            )

        def breaks(_: Mapping[str, Any]) -> ToolResult:
            return ToolResult(not self.bad, "It broke." if self.bad else "It works.")

        found = {"preview_id": "00000000-0000-4000-8000-00000000000a", "expected_count": 3, "words": "a secret word"}
        return Module(
            "bench", "Bench", "personal", (), Section(lambda _: {}, {}),
            tools=(
                tool("note", lambda _: ToolResult(True, "Noted."),
                     Parameter("text", "string", "Text."), Parameter("number", "number", "Number.", maximum=5000)),
                tool("breaks", breaks),
                tool("find", lambda _: ToolResult(True, "Found.", found, found),
                     Parameter("dialog_key", "string", "Key."), Parameter("query", "string", "Words.")),
                tool("clean", lambda _: ToolResult(True, "Cleaned."),
                     Parameter("preview_id", "string", "Id.", required=True),
                     Parameter("expected_count", "integer", "Count.", required=True),
                     Parameter("dialog_key", "string", "Key."), Parameter("query", "string", "Words.")),
            ),
        )  # fmt: skip


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def routines(core: Core, clock: FixedClock, records: Records, bench: Bench) -> Routines:
    """The room over the operator's own modules and the bench, at a moment that stands still."""
    return open_again(core, clock, (*pilot_modules(records), bench.module()))


def open_again(core: Core, clock: FixedClock, modules: Sequence[Module]) -> Routines:
    """As another process would, over the same store."""
    act = open_act(core.db, core.events, clock, core.companion.settings, modules)
    companion = core.companion
    zone = ZoneInfo("Europe/Kyiv")
    return open_routines(core.db, core.events, clock, zone, tuple(modules), act, companion.router, companion.reflection)


@pytest.fixture
def make(routines: Routines) -> Make:
    """A stored routine of these steps."""

    def made(*steps: Step, title: str = "Mine") -> Ritual:
        ritual = drafted(title, "manual", steps)
        routines.rituals.save(LOCAL_OPERATOR, ritual)
        return routines.rituals.get(ritual.id)

    return made


def call(tool: str, **config: Any) -> Step:
    return Step("tool_call", tool, {"tool": tool, **config})


def info(source: str = "goals") -> Step:
    return Step("info_display", source, {"source": source})


def number(**config: Any) -> Step:
    return Step("number_input", "How much?", {"tool": "note", "param": "number", **config})


def text(tool: str = "note", param: str = "text", **config: Any) -> Step:
    return Step("text_input", "Say it", {"tool": tool, "param": param, **config})
