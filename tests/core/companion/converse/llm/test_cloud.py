"""The tier of Gemini, over a local server that speaks its streamed REST."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import SecretStr

from core.companion.converse.llm.cloud import Cloud
from core.companion.converse.llm.contract import Message, Request, Unavailable
from tests.support.fake_models import FakeGeminiChat

PARAMETERS = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
TOOL = {"type": "function", "function": {"name": "memory_status", "description": "d", "parameters": PARAMETERS}}


def cloud(fake: FakeGeminiChat) -> Cloud:
    return Cloud(SecretStr("secret-key"), "gemini-2.5-flash", base_url=fake.url)


def request(*messages: Message, **change: Any) -> Request:
    said = messages or (Message("system", "Be brief."), Message("user", "How is today?"))
    return Request(**{"task": "chat", "messages": said, "content_class": "personal", "timeout_s": 8.0, **change})


def test_an_answer_comes_in_pieces() -> None:
    """Counted; the system turn is an instruction of its own."""
    with FakeGeminiChat("All is well") as fake:
        pieces: list[str] = []
        answer = cloud(fake).answer(request(), pieces.append)
        assert answer.text == "All is well" == "".join(pieces) and len(pieces) == 2
        assert (answer.prompt_tokens, answer.completion_tokens, answer.blocked) == (50, 9, None)
        sent = fake.requests[0]
        assert sent["systemInstruction"]["parts"][0]["text"] == "Be brief." and len(sent["contents"]) == 1
        assert sent["generationConfig"] == {"temperature": 0.7, "maxOutputTokens": 1024}


def test_a_call_goes_back_with_its_signature() -> None:
    """Gemini wants the part as it gave it; both results stand in one turn."""
    with FakeGeminiChat([{"call": "memory_status", "args": {"x": "1"}}, {"call": "memory_status"}], "fine") as fake:
        model = cloud(fake)
        calls = model.answer(request(tools=(TOOL,))).calls
        assert [(c.id, c.name, c.arguments) for c in calls] == [
            ("c0", "memory_status", {"x": "1"}),
            ("c1", "memory_status", {}),
        ]
        results = [Message("tool", f"r{n}", call_id=c.id, name=c.name) for n, c in enumerate(calls)]
        model.answer(request(Message("user", "q"), Message("assistant", "", calls=calls), *results))
        _, asked, answered = fake.requests[1]["contents"]
        assert asked["role"] == "model" and asked["parts"][0]["thoughtSignature"] == "AAAA"
        assert [p["functionResponse"]["id"] for p in answered["parts"]] == ["c0", "c1"]
        declared = fake.requests[0]["tools"][0]["functionDeclarations"][0]
        assert declared["name"] == "memory_status"


@pytest.mark.parametrize(("step", "word"), [("blocked", "PROHIBITED_CONTENT"), ("safety", "SAFETY")])
def test_a_block_is_told_by_its_own_word(step: str, word: str) -> None:
    """It is no failure, and not hidden."""
    with FakeGeminiChat(step) as fake:
        assert cloud(fake).answer(request()).blocked == word


@pytest.mark.parametrize("step", [401, 404, 429, 500, "html"])
def test_a_failure_holds_nothing_of_what_was_sent_and_rests_the_tier(step: Any) -> None:
    """No key, no text; asked again in a while only."""
    with FakeGeminiChat(step) as fake:
        model = cloud(fake)
        assert model.healthy() is None
        with pytest.raises(Unavailable) as failure:
            model.answer(request())
        assert "quotes" not in failure.value.detail and "secret-key" not in failure.value.detail
        assert model.healthy() == failure.value.detail


def test_a_deadline_holds() -> None:
    """A stream that does not begin is given up."""
    with FakeGeminiChat("slow") as fake, pytest.raises(Unavailable):
        cloud(fake).answer(request(timeout_s=0.2))
