"""Conversations: kept once, answered by a model or by rules, with the reason; and gone with the person."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest

from core.companion.converse.chat.chat import UNTITLED
from core.companion.converse.chat.questions import QUESTION_LIMIT
from core.companion.converse.chat.store import ChatStore
from core.errors import ConflictError, DatabaseUnavailable, Forbidden, InputError, NotFound
from core.events.actor import ai, run_as
from tests.core.companion.converse.chat.conftest import Opened
from tests.support.acting import as_operator
from tests.support.dialogs import body


def test_without_a_model_the_rules_answer(talk: Opened) -> None:
    """And it is said which tier it was, how long it took, and what a model would need."""
    made = talk()
    turn = made.ask("How is today?")
    assert turn.meta and turn.meta["tier"] == "rules" and turn.meta["answer"]["intent"] == "today"
    assert [skip["reason"] for skip in turn.meta["tried"]] == ["no-backend", "no-backend"]
    assert not turn.meta.get("failure") and not turn.of_model
    assert all(part["source"]["page"] and part["source"]["as_of"] for part in turn.meta["answer"]["parts"])


def test_a_question_that_rules_do_not_know(talk: Opened) -> None:
    """It says so, and what it can answer."""
    turn = talk().ask("Write me a poem about rain")
    assert turn.answer and "cannot answer that without a model" in turn.answer
    assert turn.meta and "How was my week?" in turn.meta["answer"]["suggestions"]


def test_a_model_answers_and_is_named(talk: Opened) -> None:
    """Persona, context and tools go along; the next question has the turn before with it."""
    made = talk(server=["All is well.", "Still well."])
    turn = made.ask("How is today?")
    assert turn.answer == "All is well." and turn.meta
    assert (turn.meta["tier"], turn.meta["model"], turn.meta["rounds"]) == ("server", "llama3.1", 1)
    assert turn.meta["tokens"] == 47 and turn.of_model
    first = made.fake.requests[0]  # type: ignore[union-attr]
    assert [m["role"] for m in first["messages"]] == ["system", "system", "user"]
    named = {tool["function"]["name"] for tool in first["tools"]}
    assert "usage_summary" in named and "compare_days" in named
    assert not named & {"apply_migration", "delete_dialog_memory"}  # an AI may not: it is not told of them
    made.ask("And now?")
    said = [(m["role"], m["content"]) for m in made.fake.requests[1]["messages"][2:]]  # type: ignore[union-attr]
    assert said == [("user", "How is today?"), ("assistant", "All is well."), ("user", "And now?")]


def test_events_hold_lengths_and_no_words(talk: Opened) -> None:
    """One for the conversation, one a message, each with its actor."""
    made = talk(server=["All is well."])
    made.ask("How is today, dear machine?")
    assert made.core.events.flush()
    rows = made.core.events.store.query(limit=100).rows
    (started,) = [row for row in rows if row.type == "CompanionConversationStarted"]
    sent = [row for row in rows if row.type == "CompanionMessageSent"]
    assert started.payload == {"conversation_id": made.id}
    assert {(row.actor.kind, row.payload["role"], row.payload["content_length"]) for row in sent} == {
        ("user", "user", 27),
        ("ai", "assistant", 12),
    }
    assert "dear machine" not in repr(rows) and "well" not in repr([row.payload for row in rows])


def test_asked_twice_is_one_question(talk: Opened) -> None:
    """Two tabs, or two presses at once, under one id: one message, one answer."""
    made = talk(server=["One.", "Two."])
    id = str(uuid.uuid4())
    gate = threading.Barrier(2)

    def press() -> None:
        gate.wait()
        made.chat.ask(made.id, id, "How is today?").wait(60)

    presses = [threading.Thread(target=as_operator(press)) for _ in range(2)]
    for one in presses:
        one.start()
    for one in presses:
        one.join()
    made.chat.ask(made.id, id, "How is today?").wait(60)
    (turn,) = made.chat.read(made.id).turns
    assert turn.answer == "One." and len(made.fake.requests) == 1  # type: ignore[union-attr]


def test_a_press_in_another_process_is_the_same_question(talk: Opened) -> None:
    """The database knows the id."""
    one, other = talk(server=["One."]), talk(server=["Two."])
    other.id, id = one.id, str(uuid.uuid4())
    one.ask("How is today?", id)
    assert other.ask("How is today?", id).answer == "One." and not other.fake.requests  # type: ignore[union-attr]
    with pytest.raises(ConflictError):
        other.chat.ask(one.id, id, "Something else?")


def test_one_question_at_a_time(talk: Opened) -> None:
    """Another one meanwhile is refused, and nothing of it is kept."""
    made = talk(server=["slow"])
    running = made.chat.ask(made.id, str(uuid.uuid4()), "How is today?")
    with pytest.raises(ConflictError, match="still being answered"):
        made.chat.ask(made.id, str(uuid.uuid4()), "And the week?")
    assert running.wait(60) and len(made.chat.read(made.id).turns) == 1


def test_questions_that_are_none(talk: Opened) -> None:
    """Empty, too long, unstorable: said by field, nothing kept."""
    made = talk()
    for text in ("  ", "x" * (QUESTION_LIMIT + 1), "a\x00b", "\ud800"):
        with pytest.raises(InputError):
            made.chat.ask(made.id, str(uuid.uuid4()), text)
    with pytest.raises(InputError):
        made.chat.ask("no uuid", str(uuid.uuid4()), "Hello")
    with run_as(ai("m", "m", mission_id="1", iteration_id="1", rationale="r")), pytest.raises(Forbidden):
        made.chat.ask(made.id, str(uuid.uuid4()), "Hello")
    assert made.chat.conversations().total == 0


def test_a_model_that_fails(talk: Opened) -> None:
    """The question is kept, the cause said; rules answer where they can, and no other model is asked."""
    made = talk(server=[500, 500])
    turn = made.ask("Tell me a story")
    assert turn.question == "Tell me a story" and turn.meta and turn.meta["tier"] == "rules"
    assert "refused with 500" in turn.meta["failure"] and "refused with 500" in str(turn.answer)
    assert "answer" not in turn.meta
    known = made.ask("Which goals are behind?")
    assert known.meta and known.meta["failure"] and known.meta["answer"]["intent"] == "goals"


@pytest.mark.parametrize("step", ["blocked", "safety"])
def test_a_block_is_shown(talk: Opened, step: str) -> None:
    """By the provider's own word, and the turn is told to no model again."""
    made = talk(cloud=[step, "Fine."])
    turn = made.ask("How is today?")
    assert turn.meta and turn.meta["blocked"] and turn.meta["blocked"] in str(turn.answer) and not turn.of_model
    made.ask("Again?")
    assert len(made.fake.requests[1]["contents"]) == 1  # type: ignore[union-attr]


def test_a_sensitive_question_is_answered_by_rules(talk: Opened) -> None:
    """It says why; no model hears of it, not even with the next question."""
    made = talk(cloud=["Fine."])
    made.core.ingest.ingest(body(None))
    turn = made.ask("Is dialog RU ru-1 TU tu-9 synced?")
    assert turn.meta and turn.meta["tier"] == "rules" and "names a person of the memory" in turn.meta["why"]
    assert turn.meta["answer"]["intent"] == "dialog" and "last ingested" in str(turn.answer)
    assert not made.fake.requests and made.chat.conversations().rows[0].title == UNTITLED  # type: ignore[union-attr]
    assert made.ask("How is today?").answer == "Fine."
    assert "ru-1" not in made.sent() and "tu-9" not in made.sent()


def test_consent_taken_back_counts_at_once(talk: Opened) -> None:
    """The next question goes to no model."""
    made = talk(cloud=["One.", "Two."])
    made.ask("How is today?")
    made.core.companion.router.choices.revoke()
    turn = made.ask("How is today?")
    assert turn.meta and turn.meta["tier"] == "rules" and len(made.fake.requests) == 1  # type: ignore[union-attr]
    assert turn.meta["tried"][-1]["reason"] == "no-consent"


def test_erased_with_the_person(talk: Opened) -> None:
    """The whole turn about a dialog is gone, and a title that names it; other turns stay."""
    made = talk()
    made.core.ingest.ingest(body(None))
    made.ask("How is today?")
    made.ask("Is dialog RU ru-1 TU tu-9 synced?")
    made.ask("What does Taras like?")
    made.chat.rename(made.id, "About Taras")
    key = made.core.dialogs.list().rows[0].dialog_key
    made.core.erasures.erase(key, "request")
    read = made.chat.read(made.id)
    assert [turn.question for turn in read.turns] == ["How is today?"]
    assert read.conversation.title == UNTITLED and not read.aliases
    left = made.core.db.sample("companion_messages", "content,meta,tool_call", order="seq", limit=50)
    assert "Taras" not in repr(left) and "ru-1" not in repr(left)


def test_an_answer_to_an_erased_question_is_not_kept(talk: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The erasure came while the question was being answered."""
    made = talk()
    made.core.ingest.ingest(body(None))
    key, whole = made.core.dialogs.list().rows[0].dialog_key, ChatStore.add

    def late(store: ChatStore, *given: object) -> int:
        made.core.erasures.erase(key, "request")
        return whole(store, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(ChatStore, "add", late)
    assert made.chat.ask(made.id, str(uuid.uuid4()), "Is dialog RU ru-1 TU tu-9 synced?").wait(60)
    assert not made.core.db.sample("companion_messages", "id", order="id", limit=5)


def test_renamed_deleted_brought_back(talk: Opened) -> None:
    """Each told as an event; a deleted one takes no question and goes for good after a while."""
    made = talk()
    made.ask("How is today?")
    made.chat.rename(made.id, "  My   day ")
    assert made.chat.conversations().rows[0].title == "My day"
    made.chat.delete(made.id)
    assert made.chat.conversations().total == 0
    for call in (lambda: made.chat.read(made.id), lambda: made.chat.rename(made.id, "x"), lambda: made.ask("Hello")):
        with pytest.raises(NotFound):
            call()
    made.chat.restore(made.id)
    assert made.chat.read(made.id).conversation.title == "My day"
    made.chat.delete(made.id)
    assert made.chat.prune() == 0
    made.core.db.rpc(
        "companion_prune_conversations",
        {"p_before": (made.core.clock.now() + timedelta(minutes=1)).isoformat()},
        read=False,
    )
    assert not made.core.db.sample("companion_messages", "id", order="id", limit=5)
    made.core.events.flush()
    changes = [r.payload["change"] for r in made.core.events.store.query(type="CompanionConversationChanged").rows]
    assert changes == ["deleted", "restored", "deleted", "renamed"]


def test_an_answer_that_could_not_be_kept(talk: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """The question stays without an answer, it is said why, and it can be answered again."""
    made = talk(server=["One.", "Two."])
    whole = ChatStore.add

    def away(*_: object) -> int:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(ChatStore, "add", away)
    id = str(uuid.uuid4())
    running = made.chat.ask(made.id, id, "How is today?")
    assert running.wait(60) and running.failure == "The database does not answer."
    assert made.chat.read(made.id).turns[-1].answer is None
    monkeypatch.setattr(ChatStore, "add", whole)
    assert made.chat.again(made.id, id).wait(60)
    assert made.chat.read(made.id).turns[-1].answer == "Two."
    with pytest.raises(ConflictError):
        made.chat.again(made.id, id)
