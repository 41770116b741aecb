"""Every tool by its name, each name once; and the form in which a model is told of one."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from typing import Any, get_args

from core.companion.contract import ModuleTool, ParameterType

log = logging.getLogger(__name__)

TYPES = frozenset(get_args(ParameterType))
NAME = re.compile(r"[a-z_]+")


class Toolbox:
    """Filled when the companion is opened, read by many threads afterwards."""

    def __init__(self, tools: Iterable[ModuleTool] = ()) -> None:
        self._tools: dict[str, ModuleTool] = {}
        self._names: dict[str, str] = {}
        for tool in tools:
            self.register(tool)

    def register(self, tool: ModuleTool) -> bool:
        """Add a tool; False, and a line in the log, where its name is taken.

        Errors: ValueError for a name or a parameter that cannot be told to a model.
        """
        _check(tool)
        if tool.name in self._names:
            log.warning("a second tool %s (%s) was left out", tool.name, tool.module)
            return False
        self._tools[tool.name] = tool
        for name in (tool.name, *tool.aliases):
            if self._names.setdefault(name, tool.name) != tool.name:
                log.warning("%s already means %s, and not %s", name, self._names[name], tool.name)
        return True

    def find(self, name: str) -> ModuleTool | None:
        """The tool of that name, or of which it is another name."""
        return self._tools.get(self._names.get(name, ""))

    def all(self) -> tuple[ModuleTool, ...]:
        """In the order of registration."""
        return tuple(self._tools.values())

    def of(self, module: str) -> tuple[ModuleTool, ...]:
        return tuple(tool for tool in self._tools.values() if tool.module == module)


def schema(tool: ModuleTool) -> dict[str, Any]:
    """The tool as a model is told of it: a function with JSON Schema parameters. Source: spec/companion.md, TO-3."""
    properties: dict[str, Any] = {}
    for p in tool.parameters:
        limits = {"minimum": p.minimum, "maximum": p.maximum, "maxLength": p.max_length, "pattern": p.pattern}
        one: dict[str, Any] = {"type": p.type, "description": p.description}
        one |= {name: value for name, value in limits.items() if value is not None}
        if p.enum:
            one["enum"] = list(p.enum)
        if p.default is not None:
            one["default"] = p.default
        properties[p.name] = one
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": {
                "type": "object",
                "properties": properties,
                "required": [p.name for p in tool.parameters if p.required],
                "additionalProperties": False,
            },
        },
    }


def dialogs_of(tool: ModuleTool, params: Mapping[str, Any]) -> list[str]:
    """The keys of the dialogs that a call is about, each once."""
    named = tool.dialogs(params) if tool.dialogs else ()
    return list(dict.fromkeys(key for key in (params.get("dialog_key"), *named) if isinstance(key, str) and key))


def _check(tool: ModuleTool) -> None:
    for name in (tool.name, *tool.aliases):
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} is no name of a tool")
    seen = set()
    for p in tool.parameters:
        if p.type not in TYPES:
            raise ValueError(f"{tool.name}.{p.name} has the unknown type {p.type!r}")
        if p.name in seen:
            raise ValueError(f"{tool.name} has {p.name} twice")
        seen.add(p.name)
