"""Conversations in the database; each change is one SQL function with its event inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from core.companion.converse.chat.records import (
    ConversationPage,
    Transcript,
    conversation_of,
    transcript_of,
)
from core.db.client import Database
from core.events.event import Event

READ = 400  # messages of a conversation that are shown and told again
WORDS = 5_000


class ChatStore:
    """Source: companion_chat_{ask,add}, companion_conversation_{list,read,change}. Errors: DatabaseError."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def ask(
        self,
        conversation_id: str,
        title: str,
        message_id: str,
        content: str,
        words: Sequence[str],
        now: datetime,
        started: Event,
        sent: Event,
    ) -> Mapping[str, Any]:
        """{outcome: asked, started} for a new question; {outcome: known, content, conversation_id} for one that is
        kept already; {outcome: deleted}."""
        given = {
            "p_conversation_id": conversation_id,
            "p_title": title,
            "p_message_id": message_id,
            "p_content": content,
            "p_dialogs": [],
            "p_words": list(words)[:WORDS],
            "p_now": now.isoformat(),
            "p_started": started.row(),
            "p_sent": sent.row(),
        }
        answer: Mapping[str, Any] = self._db.rpc("companion_chat_ask", given, read=False, returns=dict)
        return answer

    def add(
        self,
        conversation_id: str,
        turn_id: str,
        messages: Sequence[Mapping[str, Any]],
        dialogs: Sequence[str],
        aliases: Mapping[str, str],
        words: Sequence[str],
        now: datetime,
        sent: Event,
    ) -> int:
        """How many were kept: none where the question was erased meanwhile."""
        given = {
            "p_conversation_id": conversation_id,
            "p_turn_id": turn_id,
            "p_messages": list(messages),
            "p_dialogs": list(dialogs),
            "p_aliases": dict(aliases),
            "p_words": list(words)[:WORDS],
            "p_now": now.isoformat(),
            "p_sent": sent.row(),
        }
        return int(self._db.rpc("companion_chat_add", given, read=False, returns=dict)["stored"])

    def list(self, limit: int, offset: int) -> ConversationPage:
        given = {"p_limit": limit, "p_offset": offset}
        answer = self._db.rpc("companion_conversation_list", given, read=True, returns=dict)
        return ConversationPage(tuple(conversation_of(row) for row in answer["rows"]), int(answer["total"]))

    def read(self, id: str) -> Transcript | None:
        """None where there is none, or it is deleted."""
        answer = self._db.rpc("companion_conversation_read", {"p_id": id, "p_limit": READ}, read=True, returns=dict)
        return transcript_of(answer) if answer["conversation"] else None

    def change(
        self, id: str, now: datetime, event: Event, *, title: str | None = None, deleted: bool | None = None,
        words: Sequence[str] = (),
    ) -> str:  # fmt: skip
        """done, unchanged or missing."""
        given = {
            "p_id": id,
            "p_title": title,
            "p_deleted": deleted,
            "p_words": list(words),
            "p_now": now.isoformat(),
            "p_event": event.row(),
        }
        return str(self._db.rpc("companion_conversation_change", given, read=False, returns=dict)["outcome"])

    def prune(self, before: datetime) -> int:
        """Takes away what was deleted before then."""
        given = {"p_before": before.isoformat()}
        return int(self._db.rpc("companion_prune_conversations", given, read=False, returns=dict)["deleted"])
