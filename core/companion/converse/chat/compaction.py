"""A history that grows too long: its middle as a summary of four parts. Deterministic, and itself no call of a model.

Source: spec/companion.md, CH-9.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from core.companion.converse.llm.contract import Message
from core.tokens import estimate_tokens

BUDGET_TOKENS = 24_000
FROM_SHARE = 0.92
LAST_TURNS = 4
GOAL, SAID = 300, 200  # characters


def size(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> int:
    """Estimated tokens of a request."""
    parts = [m.content + "".join(c.name + str(c.arguments) for c in m.calls) for m in messages]
    return sum(estimate_tokens(part) for part in (*parts, *(json.dumps(tool) for tool in tools)))


def is_full(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], budget: int = BUDGET_TOKENS) -> bool:
    return size(messages, tools) >= FROM_SHARE * budget


def folded(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The system's words, the first question, a summary, the last four turns; unchanged where nothing lies between."""
    system = [m for m in messages if m.role == "system"]
    turns = _turns([m for m in messages if m.role != "system"])
    if len(turns) <= LAST_TURNS + 1 and not (len(turns) == LAST_TURNS + 1 and len(turns[0]) > 1):
        return tuple(messages)
    first, middle, last = turns[0], turns[1:-LAST_TURNS], turns[-LAST_TURNS:]
    covered = [*first[1:], *(m for turn in middle for m in turn)]
    summary = Message("system", _summary(first[0], covered))
    return (*system, first[0], summary, *(m for turn in last for m in turn))


def _turns(messages: Sequence[Message]) -> list[list[Message]]:
    turns: list[list[Message]] = []
    for message in messages:
        if message.role == "user" or not turns:
            turns.append([])
        turns[-1].append(message)
    return turns


def _summary(first: Message, covered: Sequence[Message]) -> str:
    called = [call.name for m in covered for call in m.calls]
    counted = ", ".join(f"{name} ({called.count(name)}x)" for name in dict.fromkeys(called))
    waiting = sum(m.role == "tool" and "proposal_id" in m.content for m in covered)
    asked = [m.content for m in covered if m.role == "user"]
    answers = [m.content for m in covered if m.role == "assistant" and m.content]
    return "\n".join(
        (
            "The middle of this conversation, in short:",
            f"Goal: {_cut(first.content, GOAL)}",
            f"Decisions: {waiting} proposed changes wait for the operator or are decided.",
            f"Tools called: {counted or 'none'}",
            f"Progress: {len(asked)} further questions, {len(answers)} answers."
            + (f" The latest of them: {_cut(answers[-1], SAID)}" if answers else ""),
        )
    )


def _cut(text: str, limit: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"
