"""Conversations and their turns, as they are kept and shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Conversation:
    """One of the list; `questions` counts what was asked."""

    id: str
    title: str
    created_at: datetime
    last_message_at: datetime
    questions: int = 0


@dataclass(frozen=True)
class ConversationPage:
    """The latest first; `total`: of all pages."""

    rows: tuple[Conversation, ...]
    total: int


@dataclass(frozen=True)
class Call:
    """A tool that was called in a turn: name, arguments (dialogs by their alias), and the redacted result."""

    name: str
    params: Any
    success: bool
    message: str
    data: Any
    round: int

    @property
    def proposal_id(self) -> str | None:
        found = self.data.get("proposal_id") if isinstance(self.data, Mapping) else None
        return found if isinstance(found, str) else None


@dataclass(frozen=True)
class Turn:
    """A question and what came of it. `answer` is None while there is none; `meta` says who gave it and how.

    meta: tier, model, latency_ms, rounds, tokens, tried [{tier, reason, detail}], why (a sentence), failure (a
    sentence), blocked (the provider's word), private (it may go to no model), answer (of the rules, as JSON).
    """

    id: str
    question: str
    asked_at: datetime
    calls: tuple[Call, ...] = ()
    answer: str | None = None
    answered_at: datetime | None = None
    meta: Mapping[str, Any] | None = None

    @property
    def of_model(self) -> bool:
        """Whether a model answered, so that it may be told to a model again."""
        meta = self.meta or {}
        return (
            self.answer is not None
            and meta.get("tier") in ("server", "cloud")
            and not (meta.get("failure") or meta.get("blocked") or meta.get("private"))
        )


@dataclass(frozen=True)
class Transcript:
    """A conversation with its latest turns, oldest first; `cut`: there are older ones. `aliases`: key -> alias."""

    conversation: Conversation
    turns: tuple[Turn, ...]
    aliases: Mapping[str, str]
    cut: bool


def transcript_of(answer: Mapping[str, Any]) -> Transcript:
    """From companion_conversation_read."""
    by_turn: dict[str, list[Mapping[str, Any]]] = {}
    for row in answer["messages"]:
        by_turn.setdefault(row["turn_id"], []).append(row)
    turns = tuple(turn for rows in by_turn.values() if (turn := _turn(rows)) is not None)
    return Transcript(
        conversation_of(answer["conversation"]), turns, answer["aliases"], len(answer["messages"]) < answer["total"]
    )


def conversation_of(row: Mapping[str, Any]) -> Conversation:
    return Conversation(
        row["id"],
        row["title"],
        datetime.fromisoformat(row["created_at"]),
        datetime.fromisoformat(row["last_message_at"]),
        int(row.get("questions", 0)),
    )


def _turn(rows: list[Mapping[str, Any]]) -> Turn | None:
    asked = next((row for row in rows if row["role"] == "user"), None)
    if asked is None:  # its question lies before what was read
        return None
    called = [row["tool_call"] for row in rows if row["tool_call"] is not None]
    results = [row["tool_result"] for row in rows if row["tool_result"] is not None]
    calls = tuple(
        Call(c["name"], c.get("params"), bool(r["success"]), r["message"], r.get("data"), int(c.get("round", 1)))
        for c, r in zip(called, results, strict=False)
    )
    final = next((row for row in reversed(rows) if row["role"] == "assistant" and row["tool_call"] is None), None)
    return Turn(
        asked["id"],
        asked["content"],
        datetime.fromisoformat(asked["created_at"]),
        calls,
        final["content"] if final else None,
        datetime.fromisoformat(final["created_at"]) if final else None,
        final["meta"] if final else None,
    )
