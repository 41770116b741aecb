"""Feed: empty, full, broken; kinds, parts, older and newer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.converse.feed import Feed
from core.errors import StatementTimeout
from core.events.actor import ai
from tests.pages.conftest import ODD, calm, texts

Open = Callable[..., AppTest]


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def nudges(core: Core, sql: psycopg.Connection[Any], number: int) -> None:
    for n in range(number):
        sql.execute(
            "insert into companion_nudges (id, rule_id, type, module, data, priority, status, shown_at)"
            " values (%s, 'r', 'water', 'drink', jsonb_build_object('title', %s::text), 'low', 'acted', %s)",
            (f"n{n:03}", f"Nudge {n} {ODD}", core.clock.now() - timedelta(hours=n)),
        )


def test_empty(core: Core, open_page: Open) -> None:
    """It says what will stand here."""
    assert "Nothing has happened yet" in texts(calm(open_page("feed")))
    assert "Nothing of this kind." in texts(calm(open_page("feed", query={"kind": "goal"})))


def test_items(core: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """Each with its title, character for character, and its state; by kind and part."""
    nudges(core, sql, 2)
    agent = ai("p", "Planner", mission_id="m", iteration_id="i", rationale="x")
    core.companion.act.executor.call("set_token_budget", {"value": 5_000}, actor=agent)
    core.events.emit("GoalReached", {"goal_id": "g", "title": f"Water {ODD}", "value": 8, "target": 8, "period": "day"})
    core.events.flush()
    said = texts(calm(open_page("feed")))
    assert f"Nudge 0 {ODD}" in said and f"Water {ODD}" in said and "reached: 8 of 8" in said
    assert "Set the token budget" in said and "pending, by Planner" in said
    at = calm(open_page("feed", query={"kind": "proposal"}))
    assert "Nudge 0" not in texts(at) and "Set the token budget" in texts(at)
    assert "Nudge 0" in texts(calm(open_page("feed", query={"part": "drink"})))


def test_older_and_newer(core: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """Thirty a page; the way on, and back again."""
    nudges(core, sql, 35)
    at = calm(open_page("feed"))
    assert "Nudge 29 " in texts(at) and "Nudge 30 " not in texts(at)
    at.button(key="feed-older").click()
    calm(at.run())
    assert "Nudge 30 " in texts(at) and "Nudge 29 " not in texts(at)
    at.button(key="feed-newer").click()
    assert "Nudge 0 " in texts(calm(at.run()))


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """It says so, and why."""

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    monkeypatch.setattr(Feed, "read", away)
    said = texts(open_page("feed"))
    assert "Feed cannot be shown" in said and "took too long" in said


@pytest.mark.parametrize("role", ["auditor", "operator", "admin"])
def test_the_own_day_is_its_owners(
    core: Core, open_page: Open, sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    """Others see that there was something."""
    nudges(core, sql, 1)
    sql.execute("update companion_nudges set data = jsonb_build_object('title', 'Swim at the lake')")
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", role)
    said = texts(calm(open_page("feed")))
    assert ("Swim at the lake" in said) is (role == "admin") and ("[own day]" in said) is (role != "admin")
