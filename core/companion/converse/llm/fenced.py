"""Tool calls for models that know no function calling: one fenced block `tool` with JSON. Source: CH-4."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from core.companion.converse.llm.contract import ToolCall

_BLOCK = re.compile(r"```tool[ \t]*\r?\n(.*?)```", re.DOTALL)


def instruction(tools: Iterable[Mapping[str, Any]]) -> str:
    """What such a model is told about the tools."""
    listed = "\n".join(json.dumps(tool["function"], ensure_ascii=False) for tool in tools)
    return (
        "You may call one tool per turn. To call it, answer with one fenced block and nothing else:\n"
        '```tool\n{"name": "<tool>", "params": {}}\n```\n'
        f"The tools, as JSON Schema:\n{listed}"
    )


def call_in(text: str) -> ToolCall | None:
    """The call in an answer; None where there is no block, or where it is malformed or names no tool: plain text."""
    found = _BLOCK.search(text)
    if found is None:
        return None
    try:
        block = json.loads(found.group(1))
    except ValueError:
        return None
    if not isinstance(block, dict) or not isinstance(block.get("name"), str) or not block["name"].strip():
        return None
    return ToolCall("fenced", block["name"].strip(), block.get("params", {}))
