"""Memory rent on the Tuning page: full, empty and broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.memory.requests import SearchRequest
from core.tuning.rent import RentReads
from tests.pages.conftest import ODD, calm, texts
from tests.support.dialogs import body

Open = Callable[..., AppTest]


def rent(open_page: Open, session: dict[str, object] | None = None) -> AppTest:
    return open_page("tuning", session=session, query={"view": "rent"})


def test_what_sources_and_chunks_pay(core: Core, open_page: Open) -> None:
    """Figures, both tables with their files, and the findings of the open dialog; odd text as it is."""
    notes = ("His daughter Emma is 16 years old.", "Emma, his daughter, is 17 years old.", ODD, ODD + " ")
    core.ingest.ingest(body("k1", notes=notes))
    core.search.search(SearchRequest("k1", "his daughter"))
    at = calm(rent(open_page, {"desk.dialog": ("k1", "ru-1", "tu-9")}))
    figures = {m.label: m.value for m in at.metric}
    assert figures["Prompts"] == "1" and figures["Cost"] == "no price" and figures["Relevant of judged"] == "–"
    assert figures["Equal"] == "1" and figures["May contradict"] == "1"
    tables = [frame.value for frame in at.dataframe]
    assert any("irrelevant" in frame.columns and "places" in frame.columns for frame in tables)
    assert any(ODD in list(frame.get("text", ())) for frame in tables)
    assert "Candidates by rule, not facts" in texts(at)
    assert len(at.get("download_button")) >= 6


def test_nothing_recorded_and_no_dialog_open(core: Core, open_page: Open) -> None:
    """Says what would be there."""
    said = texts(calm(rent(open_page)))
    assert "No prompt is recorded" in said and "No dialog is open" in said


def test_broken_says_what_failed(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that nothing is recorded."""

    def refuse(self: RentReads, *_: object, **__: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Open Health.")

    monkeypatch.setattr(RentReads, "report", refuse)
    said = texts(calm(rent(open_page)))
    assert "Can't reach the memory database." in said and "No prompt is recorded" not in said
