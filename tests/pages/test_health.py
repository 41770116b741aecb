"""The Health page."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.db.client import Database
from core.errors import DatabaseUnavailable
from pages._shared.components import to_do
from tests.pages.conftest import calm, texts

Open = Callable[..., AppTest]


def test_every_component_is_shown(stored: Core, open_page: Open) -> None:
    """Each component of the report has its card with status, reason and time of the check."""
    at = calm(open_page("health"))
    said = texts(at)
    for component in stored.health.report().components:
        assert f"**{component.label}**" in said
    assert "check took" in said and "/stack-ai/tips/health" in said
    assert "migrations are applied" in said


def test_a_fresh_database_is_healthy(core: Core, open_page: Open) -> None:
    """Empty is not broken."""
    assert "cannot be shown" not in texts(calm(open_page("health")))


def test_a_database_that_is_gone_is_down_with_a_reason(
    core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page itself stands, says down, and says what to do."""
    at = open_page("health")

    def gone(self: Database, *args: object, **kwargs: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Start it again.")

    for name in ("rpc", "count", "auth_health"):
        monkeypatch.setattr(Database, name, gone)
    at.button(key="check").click().run()
    said = texts(calm(at))
    assert "down" in said and "Can't reach the memory database." in said and "Start it again." in said


def test_before_the_first_look_there_is_no_history(core: Core, open_page: Open) -> None:
    """Said, and not drawn as a flat line."""
    said = texts(calm(open_page("health")))
    assert "No history yet" in said and "Not made yet on this database" in said


def test_the_past_is_drawn(stored: Core, open_page: Open, dsn: str) -> None:
    """Up-time, states and latency once somebody has looked; all ranges."""
    stored.monitor.look()
    with psycopg.connect(dsn, autocommit=True) as sql:  # a moment ago is less than a second, which is not known yet
        sql.execute("update desk_health_checks set at = at - interval '10 seconds'")
    at = open_page("health")
    for past in ("24", "168", "720"):
        said = texts(calm(at.segmented_control(key="past").set_value(past).run()))
        assert "States over" in said and "Time of the checks (ms)" in said
        assert [m.value for m in at.metric if m.label == "Up, 24 hours"] != ["unknown"]


def test_the_daily_checks_on_demand(stored: Core, open_page: Open) -> None:
    """Totals equal to the rows, recall marked as sampled."""
    at = open_page("health")
    at.button(key="daily").click().run()
    calm(at)
    found = next(frame.value for frame in at.dataframe if "found" in frame.value.columns)
    assert list(found["found"])[:2] == ["equal to the rows"] * 2
    assert "sampled" in list(found["found"])[2]


def test_the_history_breaks_alone(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest of the page stands where only the history cannot be had, and it comes back."""
    import streamlit as st

    from core.health.timeline import Timeline

    def gone(self: Timeline, *args: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Start it again.")

    with monkeypatch.context() as away:
        away.setattr(Timeline, "history", gone)
        away.setattr(Timeline, "uptime", gone)
        said = texts(calm(open_page("health")))
        assert "The history of the checks cannot be shown" in said and "**Chunk table**" in said
    st.cache_data.clear()
    assert "cannot be shown" not in texts(calm(open_page("health")))


def test_a_hint_does_not_lead_to_the_page_it_stands_on() -> None:
    """Hints are written for every page; on Health the way to Health is left out."""
    assert to_do("Retry in a moment, or open Health.") == "Retry in a moment."
    assert to_do("Open Health; the log has the code.") == "The log has the code."
    assert (
        to_do("Run `python -m core migrate`, or open Health to see what is pending.") == "Run `python -m core migrate`."
    )
    assert to_do("Start it again.") == "Start it again."
