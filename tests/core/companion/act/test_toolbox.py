"""The registry: each name once, unknown types refused, and the schema that a model gets."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from core.companion.act.toolbox import Toolbox, schema
from core.companion.contract import ModuleTool, Parameter, ToolResult

PARAMETERS = (
    Parameter("title", "string", "A title.", required=True),
    Parameter("kind", "string", "Which.", enum=("a", "b")),
    Parameter("limit", "integer", "How many.", minimum=1, maximum=24, default=12),
)


def tool(name: str, module: str = "m", **more: Any) -> ModuleTool:
    return ModuleTool(name, module, name, f"Does {name}.", lambda p: ToolResult(True, module), "usage", "auto",
                      "personal", **more)  # fmt: skip


def test_the_first_of_a_name_wins(caplog: pytest.LogCaptureFixture) -> None:
    """A second tool of a name is left out, and logged."""
    box = Toolbox([tool("look")])
    with caplog.at_level(logging.WARNING):
        assert not box.register(tool("look", "other"))
    assert [t.module for t in box.all()] == ["m"] and "second tool look" in caplog.text


def test_other_names() -> None:
    """An alias finds its tool and takes no name away."""
    box = Toolbox([tool("visit_place", aliases=("record_visit",)), tool("look", aliases=("visit_place",))])
    assert box.find("record_visit") is box.find("visit_place") is box.all()[0]
    assert box.find("nothing") is None
    assert [t.name for t in box.of("m")] == ["visit_place", "look"]


@pytest.mark.parametrize(
    "bad",
    [
        tool("Look"), tool("look 2"), tool(""), tool("x", aliases=("9",)),
        tool("x", parameters=(Parameter("a", "date", "A day."),)),  # type: ignore[arg-type]
        tool("x", parameters=(PARAMETERS[0], PARAMETERS[0])),
    ],
)  # fmt: skip
def test_refused(bad: ModuleTool) -> None:
    """Names and parameters that no model could be told."""
    with pytest.raises(ValueError):
        Toolbox([bad])


def test_schema() -> None:
    """Enum only where there is one, required only what is, nothing beside."""
    found = schema(tool("look", parameters=PARAMETERS))
    assert found == {
        "type": "function",
        "function": {
            "name": "look",
            "description": "Does look.",
            "parameters": {
                "type": "object",
                "properties": {
                    "title": {"type": "string", "description": "A title."},
                    "kind": {"type": "string", "description": "Which.", "enum": ["a", "b"]},
                    "limit": {
                        "type": "integer",
                        "description": "How many.",
                        "minimum": 1,
                        "maximum": 24,
                        "default": 12,
                    },
                },
                "required": ["title"],
                "additionalProperties": False,
            },
        },
    }
