"""The Chat page: empty, with a conversation, broken, without a key and with models that answer, call tools and fail."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.converse.chat.chat import Chat
from core.companion.converse.chat.running import Running
from core.companion.converse.chat.store import ChatStore
from core.companion.converse.rules_tier.answer import SUGGESTIONS
from core.companion.converse.rules_tier.rules import UNKNOWN
from core.errors import StatementTimeout
from tests.pages.conftest import ODD, calm, texts
from tests.support.fake_models import FakeGeminiChat, FakeOllama

Open = Callable[..., AppTest]


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Start a fake with a script, which the page's core then finds."""
    with ExitStack() as stack:

        def started(kind: type, *script: Any) -> Any:
            fake = stack.enter_context(kind(*script))
            if kind is FakeOllama:
                monkeypatch.setenv("OLLAMA_BASE_URL", fake.url)
            else:
                monkeypatch.setenv("BESCO_GEMINI_API_KEY", "secret-key")
                monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", fake.url)
            return fake

        yield started


def say(at: AppTest, text: str) -> AppTest:
    at.chat_input[0].set_value(text)
    return calm(at.run())


def press(at: AppTest, label: str) -> AppTest:
    return calm(next(b for b in at.button if b.label == label).click().run())


def kept(core: Core) -> list[Any]:
    return core.db.sample("companion_messages", "role,content,meta", order="seq", limit=50)


def test_empty(core: Core, open_page: Open) -> None:
    """Every suggestion as a button, who answers and why, the way to the settings; nothing is kept yet."""
    at = calm(open_page("chat"))
    assert set(SUGGESTIONS) <= {b.label for b in at.button}
    assert "Rules answer, without a model: none is configured." in texts(at)
    assert not core.companion.chat.conversations().total


def test_a_suggestion_is_answered(core: Core, open_page: Open) -> None:
    """With figures, their pages, the tier and the moment; the conversation is in the list."""
    core.companion.records.tasks.create(ODD, due_date=core.companion.records.today())
    at = press(open_page("chat"), "What is due?")
    said = texts(at)
    assert "1 task is due today" in said and f"due today: {ODD}" in said
    assert "today, as of" in said and "Rules · " in said
    assert [row["role"] for row in kept(core)] == ["user", "assistant"]
    assert "What is due?" in str(at.selectbox(key="chat-choice").options)


def test_a_question_in_odd_signs(core: Core, open_page: Open) -> None:
    """Character for character; what is not known is said, with suggestions to press."""
    at = say(open_page("chat"), ODD)
    assert ODD in [t.value for t in at.text] and UNKNOWN in texts(at)
    at = press(at, "How was my week?")
    assert [m.name for m in at.chat_message] == ["user", "assistant"] * 2


def test_pressed_twice_is_asked_once(core: Core, open_page: Open) -> None:
    """The second press carries the same id."""
    at = calm(open_page("chat"))
    button = next(b for b in at.button if b.label == "What is due?")
    key = button.key
    message_id = str(key).split("-", 2)[2]
    calm(button.click().run())
    (conversation,) = core.companion.chat.conversations().rows
    core.companion.chat.ask(conversation.id, message_id, "What is due?").wait(30)
    assert len(core.companion.chat.read(conversation.id).turns) == 1


def test_a_model_calls_a_tool(core: Core, open_page: Open, models: Any) -> None:
    """Its call is shown, closed; the answer with model, rounds and sources; markup in it is only signs."""
    models(FakeOllama, {"call": "usage_summary", "args": {"range": "today"}}, f"Nothing. {ODD}")
    at = say(open_page("chat"), "What did today cost?")
    assert f"Nothing. {ODD}" in [t.value for t in at.text]
    assert [e.label for e in at.expander if e.label.startswith("Usage")] == ["Usage: done"]
    said = texts(at)
    assert "Own server, `llama3.1`" in said and "2 rounds" in said and "tools of" in said
    assert "Answers come from own server" in said


def test_what_has_to_wait_is_a_card(core: Core, open_page: Open, models: Any) -> None:
    """In the conversation, to approve there; it has run then, once."""
    models(FakeGeminiChat, {"call": "set_token_budget", "args": {"value": 5000}}, "It waits for your yes.")
    core.companion.router.choices.agree()
    at = say(open_page("chat"), "Set the budget to 5000 tokens, please")
    assert "It waits for your yes." in texts(at) and core.usage.prices.budget().tokens_per_day is None
    press(at, "Approve")
    assert core.usage.prices.budget().tokens_per_day == 5_000
    assert "done" in texts(calm(at.run()))


def test_a_model_that_fails(core: Core, open_page: Open, models: Any) -> None:
    """The question stays, the cause and the way to the settings are shown."""
    models(FakeOllama, 500)
    at = say(open_page("chat"), "Tell me a story")
    said = texts(at)
    assert "Tell me a story" in said and "refused with 500" in said and "no answer of a model" in said


def test_no_consent(core: Core, open_page: Open, models: Any) -> None:
    """A key alone sends nothing."""
    fake = models(FakeGeminiChat, "Never said.")
    at = say(open_page("chat"), "How is today?")
    assert "Nobody has agreed to the use of Gemini" in texts(at) and not fake.requests
    assert "Rules · " in texts(at)


def test_list_rename_delete_and_back(core: Core, open_page: Open) -> None:
    """A new conversation, the old one by the list, another name, gone, and back."""
    at = press(open_page("chat"), "What is due?")
    (first,) = core.companion.chat.conversations().rows
    at = press(press(at, "New"), "How are my streaks?")
    assert core.companion.chat.conversations().total == 2 and "No streak has begun" in texts(at)
    at.selectbox(key="chat-choice").set_value(first.id)
    assert "due today" in texts(calm(at.run())) and at.query_params["conversation"] == first.id
    at.text_input(key=f"chat-title-{first.id}").set_value(f"x {ODD}"[:60])
    at = press(at, "Rename")
    assert core.companion.chat.read(first.id).conversation.title == f"x {ODD}"[:60].strip()
    at = press(at, "Delete")
    assert core.companion.chat.conversations().total == 1 and "deleted" in texts(at)
    at = press(at, "Bring it back")
    assert core.companion.chat.conversations().total == 2 and "due today" in texts(at)


def test_an_address_that_leads_nowhere(core: Core, open_page: Open) -> None:
    """A new conversation, and a word about the other."""
    for address in (str(uuid.uuid4()), "nonsense"):
        at = calm(open_page("chat", query={"conversation": address}))
        assert "That conversation is not there" in texts(at) and at.chat_input


def test_an_answer_that_was_not_kept(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and can be asked again."""
    whole = ChatStore.add

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    monkeypatch.setattr(ChatStore, "add", away)
    at = press(open_page("chat"), "What is due?")
    assert "The database took too long." in texts(at)
    monkeypatch.setattr(ChatStore, "add", whole)
    assert "0 overdue" in texts(press(at, "Ask again"))


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be shown; what was typed meanwhile is not lost."""

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    at = calm(open_page("chat"))
    monkeypatch.setattr(ChatStore, "ask", away)
    at = say(at, "How is today?")
    assert "The database took too long." in texts(at) and "Not sent: How is today?" in texts(at)
    monkeypatch.setattr(ChatStore, "list", away)
    assert "Chat cannot be shown" in texts(open_page("chat"))


def test_two_conversations_of_one_name(core: Core, open_page: Open) -> None:
    """The list tells them apart: the one that is chosen is opened."""
    for _ in range(2):
        say(open_page("chat"), "How is today?")
    newest, oldest = core.companion.chat.conversations().rows
    at = open_page("chat", query={"conversation": newest.id})
    names = list(at.selectbox(key="chat-choice").options)
    assert len({*names}) == len(names) == 2
    at = calm(at.selectbox(key="chat-choice").set_value(oldest.id).run())
    assert at.session_state["desk.kept.chat.open"] == oldest.id
    assert at.selectbox(key="chat-choice").value == oldest.id


def test_an_answer_that_comes_while_the_page_is_drawn(
    core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It ends between the reading of the conversation and the drawing: the page follows it, and shows the answer."""
    read, first = Chat.read, []

    def late(self: Chat, id: str) -> Any:
        turn = self.running(id)
        found = read(self, id)
        if turn is not None and not first:
            first.append(turn.wait())
            found = replace(found, turns=tuple(replace(t, answer=None, meta=None) for t in found.turns))
        return found

    monkeypatch.setattr(Chat, "read", late)
    monkeypatch.setattr(Running, "ended", property(lambda self: self._ended and bool(first)))
    at = say(open_page("chat"), "How is today?")
    assert "Another process" not in texts(at) and "Rules · " in texts(at) and first
