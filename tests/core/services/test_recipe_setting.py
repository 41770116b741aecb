"""The active recipe as the database has it."""

from __future__ import annotations

from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.services import recipe_setting as module
from core.services.recipe_setting import RecipeSetting


class Rows:
    """Stands for the database: what desk_meta holds, and whether it answers."""

    def __init__(self, *values: Any) -> None:
        self.values = list(values)
        self.asked = 0
        self.away = False

    def sample(self, *_: object, **__: object) -> list[dict[str, Any]]:
        self.asked += 1
        if self.away:
            raise DatabaseUnavailable("away")
        return [{"key": "embedding_recipe", "value": value} for value in self.values]


@pytest.mark.parametrize("values", [(), (None,), ({},), ({"recipe": "shouting"},), ("speaker",)])
def test_plain_for_nothing_and_for_nonsense(values: tuple[Any, ...]) -> None:
    """A value that this version does not know is not guessed at."""
    assert RecipeSetting(Rows(*values))() == "plain"  # type: ignore[arg-type]


def test_asked_once_within_its_time_and_anew_after(monkeypatch: pytest.MonkeyPatch) -> None:
    """A search asks no question more; `fresh` always does."""
    rows = Rows({"recipe": "speaker"})
    setting = RecipeSetting(rows)  # type: ignore[arg-type]
    assert [setting(), setting(), setting.fresh()] == ["speaker"] * 3 and rows.asked == 2
    monkeypatch.setattr(module, "TTL_S", 0.0)
    assert [setting.fresh(), setting(), setting()] and rows.asked == 5


def test_the_last_known_while_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain before anything is known; `fresh` says that it failed."""
    monkeypatch.setattr(module, "TTL_S", 0.0)
    rows = Rows({"recipe": "speaker"})
    rows.away = True
    setting = RecipeSetting(rows)  # type: ignore[arg-type]
    assert setting() == "plain"
    rows.away = False
    assert setting() == "speaker"
    rows.away = True
    assert setting() == "speaker"
    with pytest.raises(DatabaseUnavailable):
        setting.fresh()


def test_from_a_database(core: Core) -> None:
    """Nothing is set on a new one."""
    assert RecipeSetting(core.db).fresh() == "plain"
