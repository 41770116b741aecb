"""Conversations with the companion: asked, answered in a thread of their own, kept, renamed, deleted."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextvars import copy_context
from datetime import timedelta

from core.access.roles import permit
from core.clock import Clock
from core.companion.converse.chat.answering import Answered, Answering, actor_of, rows
from core.companion.converse.chat.questions import TITLE_LIMIT, cut, is_id, question
from core.companion.converse.chat.records import ConversationPage, Transcript
from core.companion.converse.chat.redaction import leaves
from core.companion.converse.chat.running import Running
from core.companion.converse.chat.store import ChatStore
from core.companion.converse.llm.aliases import Aliases
from core.companion.converse.llm.detector import words_of
from core.errors import ConflictError, CoreError, InputError, NotFound
from core.events.actor import system
from core.events.emitter import Events
from core.events.event import Event

log = logging.getLogger(__name__)

UNTITLED = "Conversation"
KEPT_DAYS = 30  # of what was deleted
REMEMBERED = 64  # turns of this process, for whoever comes back to one
GONE = "This conversation is not there."


class Chat:
    """One per process, thread-safe. Errors of all: Forbidden, DatabaseError."""

    def __init__(
        self, store: ChatStore, answering: Answering, events: Events, clock: Clock, why_not: Callable[..., str | None]
    ) -> None:
        self._store = store
        self._answering = answering
        self._events = events
        self._clock = clock
        self._why_not = why_not
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, Running] = OrderedDict()  # the latest of each conversation

    def conversations(self, limit: int = 50, offset: int = 0) -> ConversationPage:
        """The latest first."""
        _allowed()
        return self._store.list(limit, offset)

    def read(self, conversation_id: str) -> Transcript:
        """Errors: NotFound."""
        _allowed()
        found = self._store.read(conversation_id) if is_id(conversation_id) else None
        if found is None:
            raise NotFound(GONE, hint="It may have been deleted.")
        return found

    def running(self, conversation_id: str) -> Running | None:
        """The turn that this process is answering there, or the last one that it answered there."""
        with self._lock:
            return self._turns.get(conversation_id)

    def ask(self, conversation_id: str, message_id: str, text: str) -> Running:
        """Keep a question and begin to answer it; a new conversation where there is none of this id.

        Asked twice under one message id it is one question. Errors: InputError, NotFound for a deleted conversation,
        ConflictError while another question is being answered there, or where the id belongs to another question.
        """
        _allowed()
        said = question(text)
        for id in (conversation_id, message_id):
            if not is_id(id):
                raise InputError("An id is a UUID.", field="id")
        turn, mine = self._begin(conversation_id, message_id, said)
        if not mine:
            return turn
        try:
            started = self._events.prepare(
                "CompanionConversationStarted", {"conversation_id": conversation_id}, record_id=conversation_id
            )
            sent = self._sent(conversation_id, message_id, "user", said)
            now = self._clock.now()
            title = UNTITLED if self._why_not(said) else cut(said)
            words = words_of([said])
            outcome = self._store.ask(conversation_id, title, message_id, said, words, now, started, sent)
            if outcome["outcome"] == "deleted":
                raise NotFound(GONE, hint="It was deleted: begin a new one.")
            if outcome["outcome"] == "known":
                if outcome["content"] != said or outcome["conversation_id"] != conversation_id:
                    raise ConflictError("This question was asked already, in other words.", hint="Send it again.")
                turn.end()
                return turn
        except BaseException as failure:
            self._forget(turn, failure)
            raise
        if outcome["started"]:
            self._events.announce(started)
        self._events.announce(sent)
        self._start(turn)
        return turn

    def again(self, conversation_id: str, turn_id: str) -> Running:
        """Answer a kept question that has no answer. Errors: NotFound, ConflictError."""
        known = self.read(conversation_id)
        found = next((turn for turn in known.turns if turn.id == turn_id), None)
        if found is None:
            raise NotFound("This question is not there.")
        if found.answer is not None:
            raise ConflictError("This question is answered already.")
        turn, mine = self._begin(conversation_id, turn_id, found.question, anew=True)
        if mine:
            self._start(turn)
        return turn

    def rename(self, conversation_id: str, title: str) -> None:
        """Errors: InputError, NotFound."""
        words = " ".join(title.split())
        if not words:
            raise InputError("A title has letters.", field="title")
        self._change(conversation_id, "renamed", title=words[:TITLE_LIMIT], words=tuple(words_of([words])))

    def delete(self, conversation_id: str) -> None:
        """It can be brought back for 30 days. Errors: NotFound."""
        self._change(conversation_id, "deleted", deleted=True)

    def restore(self, conversation_id: str) -> None:
        """Errors: NotFound."""
        self._change(conversation_id, "restored", deleted=False)

    def prune(self) -> int:
        """Take away what was deleted long ago; how many. For the daily job."""
        return self._store.prune(self._clock.now() - timedelta(days=KEPT_DAYS))

    def _change(self, id: str, change: str, **given: object) -> None:
        _allowed()
        event = self._events.prepare(
            "CompanionConversationChanged", {"conversation_id": id, "change": change}, record_id=id
        )
        now = self._clock.now()
        outcome = self._store.change(id, now, event, **given) if is_id(id) else "missing"  # type: ignore[arg-type]
        if outcome == "missing":
            raise NotFound(GONE, hint="It may have been deleted.")
        if outcome == "done":
            self._events.announce(event)

    def _begin(self, conversation_id: str, message_id: str, text: str, *, anew: bool = False) -> tuple[Running, bool]:
        """The place in which a turn runs, and whether it is for the caller to begin it: not where it is the same
        question, which somebody else asked a moment ago."""
        with self._lock:
            last = self._turns.get(conversation_id)
            if last is not None and last.message_id == message_id and last.question == text:
                if not (anew and last.ended):
                    return last, False
            elif last is not None and not last.ended:
                raise ConflictError("The question before is still being answered.", hint="Send it in a moment.")
            turn = Running(conversation_id, message_id, text)
            self._turns[conversation_id] = turn
            self._turns.move_to_end(conversation_id)
            while len(self._turns) > REMEMBERED:
                self._turns.popitem(last=False)
            return turn, True

    def _forget(self, turn: Running, failure: BaseException) -> None:
        turn.failure = str(failure) if isinstance(failure, CoreError) else "The question could not be kept."
        turn.end()
        with self._lock:
            if self._turns.get(turn.conversation_id) is turn:
                del self._turns[turn.conversation_id]

    def _start(self, turn: Running) -> None:
        work = threading.Thread(target=copy_context().run, args=(self._work, turn), name="chat turn", daemon=True)
        work.start()

    def _work(self, turn: Running) -> None:
        try:
            known = self._store.read(turn.conversation_id)
            if known is None:
                turn.failure = GONE
                return
            self._keep(turn, self._answering.answer(known, turn.message_id, turn.question, turn))
        except CoreError as error:
            turn.failure = f"{error.what} {error.hint}".strip()
        except Exception as bug:
            # Not the message: it may quote the question.
            step = bug.__traceback__
            while step is not None and step.tb_next is not None:
                step = step.tb_next
            place = f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}" if step else "?"
            log.error("a question was not answered: %s at %s", type(bug).__name__, place)
            turn.failure = "The companion met an error of its own. The log says where."
        finally:
            turn.end()

    def _keep(self, turn: Running, answered: Answered) -> None:
        aliases = Aliases(answered.aliases)
        kept = rows(answered, aliases)
        actor = answered.actor or system("rule")
        if answered.actor is None and answered.steps:
            actor = actor_of(turn.conversation_id, turn.message_id, turn.question)
        sent = self._events.prepare(
            "CompanionMessageSent",
            {
                "message_id": kept[-1]["id"],
                "conversation_id": turn.conversation_id,
                "role": "assistant",
                "content_length": len(answered.text),
            },
            actor=actor,
            record_id=turn.conversation_id,
        )
        # An answer may name somebody whom the question did not.
        words = words_of(leaves(kept))
        keys, named = answered.dialogs, aliases.as_json()
        if self._store.add(turn.conversation_id, turn.message_id, kept, keys, named, words, self._clock.now(), sent):
            self._events.announce(sent)

    def _sent(self, conversation_id: str, message_id: str, role: str, text: str) -> Event:
        payload = {"message_id": message_id, "conversation_id": conversation_id, "role": role}
        return self._events.prepare(
            "CompanionMessageSent", {**payload, "content_length": len(text)}, record_id=conversation_id
        )


def _allowed() -> None:
    permit("chat")
