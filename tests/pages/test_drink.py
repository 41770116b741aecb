"""The Drink page: one click, one line, one double click; goal, correction, broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.records.drinks import Drinks
from core.errors import DatabaseUnavailable
from pages._shared.own import acting
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def water(core: Core) -> int:
    records = core.companion.records
    return int(records.drinks.day(records.today())["water"]["ml"])


def preset(at: AppTest) -> Any:
    return next(b for b in at.button if b.label.startswith("Glass of water"))


def test_a_double_click_is_one_drink(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within half a second one drink, after that another (case 24)."""
    at = calm(open_page("drink"))
    assert "No drink is logged today" in texts(at)
    clock = [100.0]
    monkeypatch.setattr(acting.time, "monotonic", lambda: clock[0])
    calm(preset(at).click().run())
    clock[0] += 0.3
    calm(preset(at).click().run())
    assert water(core) == 250
    clock[0] += 0.3
    calm(preset(at).click().run())
    assert water(core) == 500


def test_line_undo_and_goal(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line says what it was taken for; undo takes it back; the goal is set."""
    monkeypatch.setattr(acting, "DOUBLE_CLICK_S", 0.0)
    at = calm(open_page("drink"))
    at.text_input(key="drink-line").set_value("0.5 l green tea")
    next(b for b in at.button if b.label == "Add").click()
    calm(at.run())
    assert "Drink: 500 ml tea (green tea)" in texts(at)
    calm(at.button(key="undo-drink").click().run())
    assert "No drink is logged today" in texts(at)
    at.number_input(key="drink-goal-ml-2500").set_value(3000)
    next(b for b in at.button if b.label == "Set").click()
    calm(at.run())
    assert core.companion.records.targets.water_ml() == 3000


def test_corrected(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a dialog, and back by undo."""
    monkeypatch.setattr(acting, "DOUBLE_CLICK_S", 0.0)
    entry = core.companion.records.drinks.log("water", 250)
    at = calm(open_page("drink"))
    calm(at.button(key=f"edit-{entry['id']}").click().run())
    at.number_input(key=f"ml-{entry['id']}").set_value(300)
    next(b for b in at.button if b.label == "Save").click()
    calm(at.run())
    assert water(core) == 300
    calm(at.button(key="undo-drink").click().run())
    assert water(core) == 250


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed is said, and a retry offered."""

    def fails(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(Drinks, "day", fails)
    assert "Drink cannot be shown" in texts(calm(open_page("drink")))
