"""A page opens through the frame only."""

from __future__ import annotations

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages._shared.sitemap import PLACES, ROOT, place


@pytest.mark.parametrize("name", [p.name for p in PLACES])
def test_a_page_run_by_itself_shows_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cold deep link that Streamlit answers without the frame runs no line of the page below its guard."""

    def never(*args: object, **kwargs: object) -> None:
        raise AssertionError("the page asked for a core")

    monkeypatch.setattr("pages._shared.resources.build_core", never)
    at = AppTest.from_file(ROOT / "pages" / f"{name}.py", default_timeout=30).run()
    assert not at.exception
    assert [i.value for i in at.info] and not at.header and not at.metric and not at.dataframe


def test_every_place_is_a_page_with_an_action() -> None:
    """The navigation names files that exist and actions that exist."""
    from core.access.roles import ACTIONS

    assert all(Path(p.path).is_file() and p.action in ACTIONS for p in PLACES)
    assert {p.name for p in PLACES} == {f.stem for f in (ROOT / "pages").glob("*.py")}
    assert place("search").title == "Search"


def test_every_page_enters_through_the_guard() -> None:
    """The first thing a page does is to ask the guard, by its own name."""
    for p in PLACES:
        assert f'guard.enter("{p.name}")' in Path(p.path).read_text(encoding="utf-8")
