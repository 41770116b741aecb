"""Pages through AppTest: one script run at a time, attached to this worker's database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

if TYPE_CHECKING:
    from core.bootstrap import Core

ROOT = Path(__file__).resolve().parents[2]
FRAME = ROOT / "pages" / "_shared" / "frame.py"

# Hostile to Markdown, to formulas, to directives, to HTML: has to come out character for character.
ODD = "I paid $20, she paid $30 _and_ ~tip~ :red[x] #1 <b> :smile: -> `code`"


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    """Caches outlive one AppTest: without this the second test sees the first one's answers."""
    st.cache_data.clear()
    st.cache_resource.clear()
    yield
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.fixture(autouse=True)
def unveiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if somebody had lifted the veil from every view: what is stored stands there. Not in tests marked `masked`."""
    from core.services.veil import Reveal, View

    if not request.node.get_closest_marker("masked"):
        always = Reveal(View("every"), "local", datetime(9000, 1, 1, tzinfo=UTC))
        monkeypatch.setattr("pages._shared.veil.lifted", lambda: always)


@pytest.fixture
def open_page(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., AppTest]:
    """Open a page of the application; `session` is what the tab already remembers."""
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    def opened(
        name: str, session: Mapping[str, object] | None = None, query: Mapping[str, str] | None = None
    ) -> AppTest:
        at = AppTest.from_file(FRAME, default_timeout=60)
        for key, value in (session or {}).items():
            at.session_state[key] = value
        for key, value in (query or {}).items():
            at.query_params[key] = value
        at.run()
        if name != "overview":
            at.switch_page(str(ROOT / "pages" / f"{name}.py")).run()
        return at

    return opened


@pytest.fixture
def stored(core: Core) -> Core:
    """A database with two dialogs of one pair under both key orders, one of them with text that is hard to show."""
    from tests.support.dialogs import body, message

    messages = [message(n) for n in range(1, 31)] + [message(31, ODD)]
    first = body(None, messages=30, ruId="ru-1", tuId="tu-9")
    first["conversationJson"]["favorite"]["allMessages"] = messages
    core.ingest.ingest(first)
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    return core


def texts(at: AppTest) -> str:
    """Everything that the page says in words."""
    kinds = (at.header, at.text, at.caption, at.markdown, at.error, at.warning, at.info, at.success, at.code)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def calm(at: AppTest) -> AppTest:
    """No exception, no error of the page's own, nothing broken."""
    assert not at.exception
    assert "met an error of its own" not in texts(at)
    return at
