"""The Settings page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.memory.dialogs import DialogReads
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def test_configuration_weights_and_examples(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values with their origin, secrets as stars, the weights with what they apply to, commands to copy."""
    monkeypatch.setenv("MEMORY_DESK_API_TOKEN", "token-never-shown")
    at = calm(open_page("settings"))
    table = next(d.value for d in at.dataframe if "origin" in d.value).set_index("name")
    assert table.loc["MEMORY_DESK_EMBEDDER", "value"] == "test"
    assert table.loc["MEMORY_DESK_EMBEDDER", "origin"] == "environment"
    assert table.loc["MEMORY_DESK_API_TOKEN", "value"] == "********"
    said = texts(at)
    assert "token-never-shown" not in said + "".join(d.value.to_csv() for d in at.dataframe)
    assert "Bearer $MEMORY_DESK_API_TOKEN" in said
    assert "version 1" in said and "searches through this product" in said
    weights = next(d.value for d in at.dataframe if "boost" in d.value).set_index("source")["boost"]
    assert dict(weights) == {"note": 0.18, "profile": 0.08, "photo": 0.05, "summary": 0.0, "conversation": 0.0}


def test_the_configuration_stands_without_the_database(
    core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is configured is most wanted when nothing works."""

    def refuse(self: DialogReads) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(DialogReads, "overview", refuse)
    at = calm(open_page("settings"))
    assert "The demo data cannot be shown" in texts(at)
    assert any("origin" in d.value for d in at.dataframe)


@pytest.fixture
def with_demo(stored: Core, dsn: str) -> Core:
    """A database whose dialogs count as demo data."""
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("update client_memory_chunks set metadata = metadata || '{\"demo\": true}'")
    stored.db.rpc("desk_note_demo", {"p_state": "loaded", "p_event": None}, read=False)
    return stored


def test_demo_data_goes_with_one_confirmed_click(with_demo: Core, open_page: Open) -> None:
    """Nothing is deleted by asking; the confirmation says how much, does it once, and the page reports it."""
    at = calm(open_page("settings"))
    before = with_demo.dialogs.overview().chunks
    at.button(key="demo-ask").click().run()
    assert with_demo.dialogs.overview().chunks == before > 0
    at.button(key="demo-remove").click().run()
    assert with_demo.dialogs.overview().chunks == 0
    assert any("removed" in s.value for s in calm(at).success)


def test_a_removal_that_fails_says_so_and_keeps_everything(
    with_demo: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure outlives the click that caused it."""
    from core.services.demo import DemoService

    def refuse(self: DemoService) -> int:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(DemoService, "remove", refuse)
    at = calm(open_page("settings"))
    at.button(key="demo-ask").click().run()
    at.button(key="demo-remove").click().run()
    assert "The removal cannot be shown" in texts(calm(at))
    assert with_demo.dialogs.overview().chunks > 0
