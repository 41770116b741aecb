"""The section Photos of the Operations page: off, empty, full."""

from __future__ import annotations

from collections.abc import Callable

from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def _photos(open_page: Open) -> AppTest:
    at = open_page("operations")
    return calm(at.segmented_control(key="section").set_value("photos").run())


def test_no_photo(core: Core, open_page: Open) -> None:
    """Why there is nothing, and what is missing for the action all the same."""
    said = texts(_photos(open_page))
    assert "No photo is stored" in said and "MEMORY_DESK_PHOTO_ANALYSIS=on" in said


def test_the_action_is_there_and_says_what_is_missing(stored: Core, open_page: Open) -> None:
    """Listed, counted, and not to be pressed."""
    at = _photos(open_page)
    said = texts(at)
    assert "BESCO_GEMINI_API_KEY" in said and "its own consent" in said
    assert {m.label: m.value for m in at.metric}["Without words"] == "2"
    assert at.button(key="photos-start").disabled
    assert "https://example.org/p/1.jpg" in list(at.dataframe[0].value["url"])
