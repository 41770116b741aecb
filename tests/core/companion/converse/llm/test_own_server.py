"""The tier of the operator's own server, over a local one that speaks the Ollama API."""

from __future__ import annotations

from typing import Any

import pytest

from core.companion.converse.llm.contract import Message, Request, ToolCall, Unavailable
from core.companion.converse.llm.own_server import OwnServer
from tests.support.fake_models import FakeOllama

TOOL = {"type": "function", "function": {"name": "memory_status", "description": "d", "parameters": {}}}


def request(**change: Any) -> Request:
    messages = (Message("system", "Be brief."), Message("user", "How is today?"))
    return Request(**{"task": "chat", "messages": messages, "content_class": "personal", "timeout_s": 5.0, **change})


def test_an_answer_comes_in_pieces() -> None:
    """And is counted; nothing but the request goes out."""
    with FakeOllama("All is well today") as fake:
        pieces: list[str] = []
        answer = OwnServer(fake.url + "/", "llama3.1").answer(request(), pieces.append)
        assert answer.text == "All is well today" == "".join(pieces) and len(pieces) == 4
        assert (answer.prompt_tokens, answer.completion_tokens) == (40, 7)
        sent = fake.requests[0]
        assert sent["model"] == "llama3.1" and sent["options"] == {"temperature": 0.7, "num_predict": 1024}
        assert [m["role"] for m in sent["messages"]] == ["system", "user"] and "tools" not in sent


def test_calls_and_their_results() -> None:
    """Several in one turn, and back again."""
    with FakeOllama([{"call": "a", "args": {"x": 1}}, {"call": "b"}], "done") as fake:
        server = OwnServer(fake.url, "llama3.1")
        calls = server.answer(request(tools=(TOOL,))).calls
        assert [(c.name, c.arguments) for c in calls] == [("a", {"x": 1}), ("b", {})]
        result = Message("tool", '{"ok": true}', call_id=calls[0].id, name="a")
        server.answer(request(messages=(Message("user", "q"), Message("assistant", "", calls=calls), result)))
        told = fake.requests[1]["messages"]
        assert told[1]["tool_calls"][0]["function"]["name"] == "a" and told[2]["tool_name"] == "a"


def test_a_model_without_functions_is_told_in_words() -> None:
    """Found out once; the block in its answer is a call."""
    block = '```tool\n{"name": "memory_status", "params": {}}\n```'
    with FakeOllama(400, block, "plain words") as fake:
        server = OwnServer(fake.url, "llama3.1")
        assert server.answer(request(tools=(TOOL,))).calls == (ToolCall("fenced", "memory_status", {}),)
        assert server.answer(request(tools=(TOOL,))).text == "plain words"
        assert ["tools" in sent for sent in fake.requests] == [True, False, False]
        assert "memory_status" in fake.requests[2]["messages"][0]["content"]


@pytest.mark.parametrize("step", [500, 404, "cut", "broken", "error"])
def test_a_failure_is_one_kind_without_what_was_sent(step: Any) -> None:
    """A status, half an answer, or no JSON."""
    with FakeOllama(step) as fake, pytest.raises(Unavailable) as failure:
        OwnServer(fake.url, "llama3.1").answer(request())
    assert "How is today" not in failure.value.detail and fake.url not in failure.value.detail


def test_a_slow_or_absent_server() -> None:
    """The deadline holds; nobody at the address is a failure like others."""
    with FakeOllama("slow") as fake, pytest.raises(Unavailable, match=r"0\.2 s"):
        OwnServer(fake.url, "llama3.1").answer(request(timeout_s=0.2))
    with pytest.raises(Unavailable, match="reached"):
        OwnServer("http://127.0.0.1:9", "llama3.1").answer(request())


def test_health() -> None:
    """The model has to be there; a name without a tag is its latest."""
    with FakeOllama() as fake:
        assert OwnServer(fake.url, "llama3.1").healthy() is None
        assert "no model other" in str(OwnServer(fake.url, "other").healthy())
    assert "does not answer" in str(OwnServer("http://127.0.0.1:9", "x").healthy())
