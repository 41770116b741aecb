"""Tool calls in plain text."""

from __future__ import annotations

import pytest

from core.companion.converse.llm.fenced import call_in, instruction


def test_a_block_is_a_call() -> None:
    """With words around it; missing params are none."""
    found = call_in('Let me look.\n```tool\n{"name": "usage_summary", "params": {"group_by": "phase"}}\n```\n')
    assert found and (found.name, found.arguments) == ("usage_summary", {"group_by": "phase"})
    bare = call_in('```tool\n{"name": "memory_status"}\n```')
    assert bare and bare.arguments == {}


@pytest.mark.parametrize(
    "text",
    [
        "no block",
        "```tool\n{broken\n```",
        '```tool\n["a"]\n```',
        '```tool\n{"params": {}}\n```',
        '```tool\n{"name": " "}\n```',
        '```json\n{"name": "x"}\n```',
    ],
)
def test_anything_else_is_text(text: str) -> None:
    """Malformed, or without a name."""
    assert call_in(text) is None


def test_the_instruction_lists_the_tools() -> None:
    """As JSON Schema, one a line."""
    assert '"name": "memory_status"' in instruction([{"type": "function", "function": {"name": "memory_status"}}])
