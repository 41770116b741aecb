"""A core whose models are local servers with a script; a question, asked and waited for."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from core.bootstrap import Core, build_core
from core.companion.converse.chat.records import Turn
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.local.server import Endpoint
from tests.support.fake_models import FakeGeminiChat, FakeModel, FakeOllama


class Talk:
    """One conversation of a core; `ask` gives the turn as it is kept."""

    def __init__(self, core: Core, fake: FakeModel | None = None) -> None:
        self.core, self.fake = core, fake
        self.chat = core.companion.chat
        self.id = str(uuid.uuid4())

    def ask(self, text: str, message_id: str | None = None) -> Turn:
        running = self.chat.ask(self.id, message_id or str(uuid.uuid4()), text)
        assert running.wait(60)
        assert running.failure is None, running.failure
        return self.chat.read(self.id).turns[-1]

    def sent(self) -> str:
        """Everything that left the product, as one text."""
        return repr(self.fake.requests) if self.fake else ""


Opened = Callable[..., Talk]


@pytest.fixture
def talk(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Opened]:
    """Open a conversation: without a model, or with `server=[...]` or `cloud=[...]`, the script of a fake."""
    with ExitStack() as stack:

        @contextmanager
        def opened(server: list[Any] | None, cloud: list[Any] | None, functions: bool) -> Iterator[Talk]:
            fake: FakeModel | None = None
            given = dict(env)
            if server is not None:
                fake = stack.enter_context(FakeOllama(*server, functions=functions))
                given |= {"OLLAMA_BASE_URL": fake.url}
            if cloud is not None:
                fake = stack.enter_context(FakeGeminiChat(*cloud))
                given |= {"BESCO_GEMINI_API_KEY": "secret-key", "GOOGLE_GEMINI_BASE_URL": fake.url}
            core = build_core(read_settings(given), endpoint=endpoint, embedder=TestEmbedder())
            if cloud is not None:
                core.companion.router.choices.agree()
            try:
                yield Talk(core, fake)
            finally:
                core.close()

        def open_talk(
            *, server: list[Any] | None = None, cloud: list[Any] | None = None, functions: bool = True
        ) -> Talk:
            return stack.enter_context(opened(server, cloud, functions))

        yield open_talk
