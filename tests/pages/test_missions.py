"""The Missions page: empty, full, broken; made, run, watched, cancelled, ended and brought back as a person does it."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.act.missions.cadence import Cadence
from core.companion.act.missions.draft import MissionDraft
from core.companion.act.missions.mission import Input
from core.companion.act.missions.store import MissionStore
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from pages._shared.missions import words
from tests.pages.conftest import ODD, calm, texts
from tests.support.missions import draft, expire, weekly

Open = Callable[..., AppTest]
TITLE = ODD[:60].strip()
OBJECTIVE = f"{ODD} and more"


def make(core: Core, **changes: Any) -> str:
    wanted: MissionDraft = draft(**changes)
    core.companion.missions.save(LOCAL_OPERATOR, wanted)
    return wanted.id


def button(at: AppTest, label: str) -> Any:
    return next(b for b in at.button if b.label == label)


def press(at: AppTest, label: str) -> AppTest:
    st.cache_data.clear()
    return button(at, label).click().run()


def test_empty(open_page: Open) -> None:
    """No mission: what they are for, the form, and how they run without the application."""
    at = calm(open_page("missions"))
    assert "No mission yet" in texts(at) and "python -m core companion run" in texts(at)
    assert button(at, "New mission")


def test_full(core: Core, dsn: str, open_page: Open) -> None:
    """An odd title and objective as they stand, state, cadence, next dates, the run with its steps, the proposal."""
    expire(dsn, datetime.now(UTC))
    id = make(core, **weekly(title=TITLE, objective=OBJECTIVE))
    core.companion.missions.run(id)
    at = calm(open_page("missions"))
    shown = [t.value for t in at.text]
    assert shown.count(TITLE) == 2 and OBJECTIVE in shown
    assert [m.value for m in at.metric][:4] == ["1", "0", "1", "0"]
    said = texts(at)
    assert "Mondays at 09:00" in said and "Planned by rules (Clean-up of expired snapshots) · 1 run" in said
    assert {"Count expired snapshots", "Delete expired snapshots", "3"} <= set(shown)
    assert [b.label for b in at.button].count("Approve") == 1
    at = press(at, "Approve")
    assert "3 expired snapshots were deleted." in texts(calm(at))
    assert core.companion.missions.get(id).latest.status == "approved"  # type: ignore[union-attr]


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database away: the page says what failed, and nothing is lost."""
    make(core)

    def away(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(MissionStore, "list", away)
    at = open_page("missions")
    assert not at.exception and "Missions cannot be shown" in texts(at) and "does not answer" in texts(at)


def test_made_by_rules(core: Core, open_page: Open) -> None:
    """The plan fills title, objective and time; the next three dates are shown before it is saved."""
    at = press(open_page("missions"), "New mission")
    assert "The next runs would be Mon " in texts(calm(at))
    at = next(s for s in at.selectbox if s.label == "Plan").set_value("morning_check").run()
    assert next(t for t in at.text_input if t.label == "Title").value == "Morning check"
    at = press(at, "Save")
    assert "Morning check: made." in texts(calm(at))
    (made,) = core.companion.missions.list()
    assert (made.planner, made.template, made.cadence) == ("rules", "morning_check", Cadence("daily", hour=8))


def test_made_for_a_model(core: Core, open_page: Open) -> None:
    """Inputs of every module to choose from; without a model it says so; a fault names its field."""
    at = press(open_page("missions"), "New mission")
    groups: list[Any] = [*at.get("button_group")]
    at = next(g for g in groups if g.label == "Planned by").set_value("llm").run()
    assert "No model would plan now" in texts(calm(at))
    options = next(m for m in at.multiselect if m.label == "What it is told").options
    assert "Usage: Usage of the last 7 days" in options
    at = press(at, "Save")
    assert "Title: It has 1 to 80 characters." in texts(calm(at))
    next(t for t in at.text_input if t.label == "Title").set_value(TITLE)
    next(t for t in at.text_area if t.label == "Objective").set_value(ODD)
    next(m for m in at.multiselect if m.label == "What it is told").set_value([Input("usage", "summary", "week")])
    at = press(at.run(), "Save")
    (made,) = core.companion.missions.list()
    assert (made.title, made.objective, made.inputs) == (TITLE, ODD, (Input("usage", "summary", "week"),))
    assert "Usage: Usage of the last 7 days" in [t.value for t in at.text]


def test_two_inputs_of_one_name(core: Core, open_page: Open) -> None:
    """Two tasks called the same are two choices, told apart."""
    tasks = [core.companion.records.tasks.create("Write the report") for _ in range(2)]
    at = press(open_page("missions"), "New mission")
    at = calm(next(c for c in at.button_group if c.label == "Planned by").set_value("llm").run())
    told = next(m for m in at.multiselect if m.label == "What it is told")
    assert len([o for o in told.options if "Write the report" in o]) == 2
    assert len({*told.options}) == len(told.options) and tasks


def test_a_bad_cron(open_page: Open) -> None:
    """It says what is wrong, and cannot be saved; the 31st shows its dates."""
    at = press(open_page("missions"), "New mission")
    at = next(s for s in at.selectbox if s.label == "When it runs").set_value("cron").run()
    at = next(t for t in at.text_input if t.label == "Cron").set_value("0 9 31 2 *").run()
    assert "That day never comes." in texts(calm(at)) and button(at, "Save").disabled
    at = next(t for t in at.text_input if t.label == "Cron").set_value("0 9 31 * *").run()
    assert texts(at).count(" 31 ") >= 3 and not button(at, "Save").disabled


def test_states_and_undo(core: Core, open_page: Open) -> None:
    """Each change says what it did and offers the way back; only an active one can be run."""
    id = make(core)
    at = press(open_page("missions"), "Pause")
    assert "paused" in texts(calm(at)) and button(at, "Run now").disabled
    at = press(at, "Undo")
    assert core.companion.missions.get(id).state == "active"
    at = press(at, "Delete")
    assert core.companion.missions.list() == () and "No mission yet" in texts(at)
    at = press(calm(at), "Undo")
    for label, state in (("Complete", "done"), ("Resume", "active"), ("Archive", "archived")):
        at = press(calm(at), label)
        assert core.companion.missions.get(id).state == state


def test_run_now(core: Core, open_page: Open) -> None:
    """It begins at once in a thread; a second press elsewhere hears that it runs."""
    id = make(core, **weekly())
    at = press(open_page("missions"), "Run now")
    assert "the run began" in texts(calm(at))
    st.cache_data.clear()
    at = open_page("missions")
    other = str(uuid.uuid4())
    for _ in range(100):
        found = core.companion.missions.iterations(id).rows
        if found and found[0].status != "running":
            break
        at.run()
    now = core.clock.now()
    assert core.companion.missions.store.claim(id, "other", other, "server", due=False, now=now) == "claimed"
    at = press(open_page("missions", query={}), "Pause")
    assert "No snapshot is expired." in texts(calm(at))


def test_running_and_cancelled(core: Core, open_page: Open) -> None:
    """Phase and time of a run of another process; cancelled here, it is asked to stop."""
    id, run = make(core), str(uuid.uuid4())
    store = core.companion.missions.store
    assert store.claim(id, "other", run, "server", due=False, now=core.clock.now()) == "claimed"
    store.phase(run, "other", "calling-llm", core.clock.now())
    at = calm(open_page("missions"))
    assert "Asking the planner for" in texts(at) and "in the offline runner" in texts(at)
    assert button(at, "Run now").disabled
    at = press(at, "Cancel")
    assert "It stops at its next step." in texts(calm(at))
    assert store.phase(run, "other", None, core.clock.now()) == (True, True)


def test_a_lost_run(core: Core, open_page: Open) -> None:
    """Its process is gone: that is said, and it can be run again, which closes the lost one."""
    id = make(core, planner="rules", template="usage_review")
    store, past = core.companion.missions.store, core.clock.now() - timedelta(minutes=5)
    assert store.claim(id, "gone", str(uuid.uuid4()), "server", due=False, now=past) == "claimed"
    at = calm(open_page("missions"))
    assert "does not answer any more" in texts(at) and not button(at, "Run now").disabled
    core.companion.missions.run(id)
    assert [one.status for one in core.companion.missions.iterations(id).rows] == ["approved", "failed"]


def test_feedback(core: Core, open_page: Open) -> None:
    """What is said of a run is kept with it and shown as it is."""
    id = make(core, planner="rules", template="usage_review")
    core.companion.missions.run(id)
    at = calm(open_page("missions"))
    next(t for t in at.text_area if t.label == "For the next plan").set_value(ODD)
    at = press(at.run(), "Keep it")
    assert ODD in [t.value for t in calm(at).text]
    assert core.companion.missions.iterations(id).rows[0].feedback == ODD


def test_words() -> None:
    """Cadences as a person says them."""
    said = [
        words.cadence(one)
        for one in (Cadence(), Cadence("interval", minutes=90), Cadence("daily", hour=8, minute=5),
                    Cadence("weekly", hour=9, weekday=6), Cadence("cron", cron="0 9 31 * *"))
    ]  # fmt: skip
    assert said == ["by hand", "every 90 minutes", "daily at 08:05", "Sundays at 09:00", "cron `0 9 31 * *`"]
