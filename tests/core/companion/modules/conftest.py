"""The five modules of the operator's day over the records of the test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.bootstrap import Core
from core.companion.act.toolbox import Toolbox
from core.companion.act.validation import validate
from core.companion.contract import Module, Rule, RuleContext, ToolResult
from core.companion.modules.pilot import pilot_modules
from core.companion.records.records import Records

KYIV = ZoneInfo("Europe/Kyiv")


@pytest.fixture
def modules(records: Records) -> Mapping[str, Module]:
    return {module.name: module for module in pilot_modules(records)}


@pytest.fixture
def call(modules: Mapping[str, Module]) -> Callable[..., ToolResult]:
    """Runs a tool by any of its names with validated arguments, as the executor does for a person."""
    toolbox = Toolbox(tool for module in modules.values() for tool in module.tools)

    def run(name: str, /, **given: Any) -> ToolResult:
        tool = toolbox.find(name)
        assert tool is not None
        return tool.execute(validate(tool, given))

    return run


@pytest.fixture
def rules(modules: Mapping[str, Module]) -> Mapping[str, Rule]:
    return {rule.id: rule for module in modules.values() for rule in module.rules}


@pytest.fixture
def undo(modules: Mapping[str, Module], core: Core) -> Callable[[str], ToolResult]:
    """Runs the inverse of the latest stored event of a type."""

    def run(type: str) -> ToolResult:
        assert core.events.flush()
        (row,) = core.events.store.query(type=type, limit=1).rows
        module = next(m for m in modules.values() if type in m.inverses)
        stored = {"type": row.type, "payload": row.payload, "actor": row.actor.as_json(), "record_id": row.record_id}
        return module.inverses[type](stored)

    return run


def context(hour: int, minute: int = 0, **day: Mapping[str, Any]) -> RuleContext:
    """What a rule sees on 30 November 2026 at that local hour; sections beside `day` are those of an empty day."""
    whole: dict[str, Mapping[str, Any]] = {
        "todo": {"total": 0, "completed": 0, "overdue": 0, "due_today": []},
        "calendar": {"total": 0, "all_day": [], "upcoming": [], "next_event": None},
        "drink": {"water": {"ml": 0, "goal": 2500, "percent": 0}},
        "food": {"meals": 0, "calories": {"actual": 0, "goal": 2000, "percent": 0}},
        "places": {"visited_today": 0, "tracking": False},
        **day,
    }
    return RuleContext(now=datetime(2026, 11, 30, hour, minute, tzinfo=KYIV), zone=KYIV, day=whole)
