"""The Routines page: empty, full, broken; made, walked through, reloaded, in two tabs, changed and put together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.converse.rituals.ritual import Ritual
from core.companion.converse.rituals.rituals import drafted
from core.companion.converse.rituals.step import Step
from core.companion.converse.rituals.store import RitualStore
from core.errors import DatabaseUnavailable
from core.events.actor import LOCAL_OPERATOR
from tests.pages.conftest import ODD, calm, texts
from tests.support.fake_models import FakeOllama

Open = Callable[..., AppTest]
TITLE = ODD[:60].strip()


def rows(core: Core, table: str) -> list[Any]:
    return core.db.sample(table, "*", order="id", limit=50)


def press(at: AppTest, label: str, place: int = 0) -> AppTest:
    return [b for b in at.button if b.label == label][place].click().run()


def stored(core: Core) -> tuple[Ritual, ...]:
    return core.companion.routines.rituals.list()


def add(core: Core, template: str = "full-morning") -> Ritual:
    return core.companion.routines.rituals.add(LOCAL_OPERATOR, template)


def progress(at: AppTest) -> str:
    """What the bar of the runner says."""
    return str([element.proto.text for element in at.get("progress")])


def fill(at: AppTest, label: str, value: Any) -> AppTest:
    return next(t for t in (*at.text_input, *at.number_input) if t.label == label).set_value(value).run()


def test_empty(core: Core, open_page: Open) -> None:
    """No routine: why, and seven templates to press."""
    at = calm(open_page("routines"))
    assert "No routine yet" in texts(at) and "No routine was run yet." in texts(at)
    labels = {b.label for b in at.button}
    assert {"Morning", "Full morning", "Evening", "Hydration", "On-call morning check", "Weekly cleanup"} <= labels


def test_a_template_with_one_click(core: Core, open_page: Open) -> None:
    """It is made once, and cannot be pressed again while it is there."""
    at = press(open_page("routines"), "Hydration")
    assert "Hydration: made." in texts(calm(at))
    assert next(b for b in at.button if b.key == "routine-template-hydration").disabled
    assert len(stored(core)) == 1


def test_five_steps_of_the_morning_write_into_three_modules(core: Core, open_page: Open) -> None:
    """Water, a task, figures twice, breakfast: rows of drink, todo and food, each by the one who sits here."""
    at = press(open_page("routines"), "Full morning")
    at = press(calm(at), "Start")
    assert "0 of 5 steps done" in progress(at)
    at = press(calm(at), "Run")
    at = press(at, "Done")  # empty
    assert "This is empty: nothing was run." in texts(calm(at))
    at = press(fill(at, "Title", TITLE), "Done")
    assert "No appointment is noted." in texts(calm(at)) and TITLE not in [b.label for b in at.button]
    at = press(fill(at, "Description", "porridge"), "Done")
    assert "completed" in texts(calm(at))
    (drink,) = rows(core, "companion_drink_entries")
    (task,) = rows(core, "companion_tasks")
    (meal,) = rows(core, "companion_meals")
    assert (drink["drink_type"], drink["quantity_ml"]) == ("water", 250)
    assert (task["title"], task["priority"]) == (TITLE, "low")
    assert (meal["description"], meal["meal_type"]) == ("porridge", "breakfast")
    (run,) = core.companion.routines.rituals.runs().rows
    assert (run.status, run.completed, run.total) == ("completed", 5, 5)
    core.events.flush()
    told = {row.type: row.actor.kind for row in core.events.store.query(limit=100).rows}
    assert {told[t] for t in ("RitualStarted", "DrinkLogged", "TaskCreated", "MealLogged", "RitualCompleted")} == {
        "user"
    }
    assert TITLE not in str(rows(core, "companion_ritual_logs"))
    at = press(at, "Back to the list")
    assert "completed today at" in texts(calm(at))


def test_reload_in_the_middle(core: Core, open_page: Open) -> None:
    """A new tab with the address goes on where the row says; one without it offers to continue."""
    ritual = add(core)
    at = press(open_page("routines"), "Start")
    press(at, "Run")
    again = calm(open_page("routines", query={"routine": ritual.id}))
    assert "1 of 5 steps done" in progress(again)
    assert [t.label for t in again.text_input] == ["Title"]
    assert "Continue" in {b.label for b in calm(open_page("routines")).button}
    assert len(rows(core, "companion_drink_entries")) == 1


def test_two_tabs(core: Core, open_page: Open) -> None:
    """The second joins; the step that both have open runs once, and the second hears it."""
    add(core)
    one, two = press(open_page("routines"), "Start"), open_page("routines")
    two = press(two, "Start" if any(b.label == "Start" for b in two.button) else "Continue")
    assert "joined" in texts(calm(two))
    press(one, "Run")
    two = press(two, "Run")
    assert "This was done already: nothing was run again." in texts(calm(two))
    assert len(rows(core, "companion_drink_entries")) == 1
    assert len(core.companion.routines.rituals.runs().rows) == 1


def test_numbers_skipping_and_the_end(core: Core, open_page: Open) -> None:
    """Out of range is said at the step; skipped it may be done after all; a run left behind is in the log."""
    add(core, "hydration")
    at = press(open_page("routines"), "Start")
    assert "1 of 2 steps done" in progress(at)  # the first info step counts
    at = press(fill(at, "Quantity ml in ml", 5000), "Done")
    assert "The most is 1000 ml: nothing was run." in texts(calm(at))
    at = press(at, "Skip")
    assert "Finish" in {b.label for b in calm(at).button}
    at = press(at, "Do it after all")
    at = press(fill(at, "Quantity ml in ml", None), "Done")
    assert rows(core, "companion_drink_entries")[0]["quantity_ml"] == 250
    at = press(press(at, "Back to the list"), "Start")
    at = press(at, "Stop here")
    assert "aborted, 1 of 2 steps." in texts(calm(at))
    assert [run.status for run in core.companion.routines.rituals.runs().rows] == ["aborted", "completed"]


def test_checklist_and_mood(core: Core, open_page: Open) -> None:
    """Ticked item by item, a tool with it; the mood is one of five."""
    mood = Step("mood_picker", "Mood", {"tool": "create_task", "param": "title"})
    items = [
        {"label": ODD},
        {"label": "Glass", "tool": "log_drink", "params": {"drink_type": "tea", "quantity_ml": 200}},
    ]
    ritual = drafted("Mine", "manual", (mood, Step("checklist", "List", {"items": items})))
    core.companion.routines.rituals.save(LOCAL_OPERATOR, ritual)
    at = press(open_page("routines"), "Start")
    at = press(at, "Done")
    assert "Choose 1 to 5." in texts(calm(at))
    at = press(at.button_group[0].set_value(4).run(), "Done")
    assert ODD in [t.value for t in calm(at).text]
    at = press(press(at, "Tick"), "Tick")
    assert "completed" in texts(calm(at))
    assert rows(core, "companion_drink_entries")[0]["drink_type"] == "tea"


def test_the_editor(core: Core, open_page: Open) -> None:
    """A fault names its step and field; a step is added, moved, taken out; saved it is a new version."""
    at = press(open_page("routines"), "Make a routine")
    at = press(fill(at, "Title", TITLE), "Save")
    assert "Steps: A routine has at least one step." in texts(calm(at))
    at = press(at, "Add it")  # the first kind: run a tool
    at = press(fill(at, "Label", "First"), "Save")
    assert "Step 1, tool: There is no such tool." in texts(calm(at))
    at = next(s for s in at.selectbox if s.label == "Tool").set_value("log_drink").run()
    at = next(s for s in at.selectbox if s.label == "drink_type (needed)").set_value("water").run()
    at = press(fill(at, "quantity_ml (needed)", "much"), "Save")
    assert "Step 1, fixed values: quantity_ml is no number." in texts(calm(at))
    at = fill(at, "quantity_ml (needed)", "300")
    at = next(s for s in at.selectbox if s.label == "Another step").set_value("info_display").run()
    at = press(at, "Add it")
    at = next(s for s in at.selectbox if s.label == "What it shows").set_value("goals").run()
    [t for t in at.text_input if t.label == "Label"][1].set_value("Second")
    at = press(at.run(), "Up", 1)
    assert [t.value for t in calm(at).text_input if t.label == "Label"] == ["Second", "First"]
    at = press(at, "Save")
    assert f"{TITLE}: made." in texts(calm(at))
    (ritual,) = stored(core)
    assert [step.type for step in ritual.steps] == ["info_display", "tool_call"]
    assert ritual.steps[1].config == {"tool": "log_drink", "params": {"drink_type": "water", "quantity_ml": 300}}
    at = press(press(at, "Edit"), "Take out")
    at = press(at, "Save")
    assert [step.label for step in stored(core)[0].steps] == ["First"] and stored(core)[0].version == 2


def test_every_template_survives_the_editor(core: Core, open_page: Open) -> None:
    """Opened and saved as it is, a routine of each template has the same steps."""
    for template in core.companion.routines.rituals.templates:
        add(core, template.id)
    before = {ritual.id: ritual for ritual in stored(core)}
    at = open_page("routines")
    for ritual in before.values():
        at = next(b for b in at.button if b.key == f"routine-edit-{ritual.id}").click().run()
        at = press(calm(at), "Save")
        assert f"{ritual.title}: changed." in texts(calm(at))
    assert {ritual.id: ritual.steps for ritual in stored(core)} == {id: ritual.steps for id, ritual in before.items()}


def test_pause_archive_delete_and_undo(core: Core, open_page: Open) -> None:
    """Each says what it did and offers the way back."""
    add(core, "morning")
    at = press(open_page("routines"), "Pause")
    assert "Morning: paused." in texts(calm(at)) and stored(core)[0].status == "paused"
    at = press(at, "Undo")
    assert stored(core)[0].status == "active"
    at = press(at, "Delete")
    assert stored(core) == () and "No routine yet" in texts(at)
    at = press(at, "Undo")
    at = press(calm(at), "Archive")
    assert stored(core)[0].status == "archived"


def test_put_together_by_rules(core: Core, open_page: Open) -> None:
    """Without a model: a preview that says who made it, saved once confirmed."""
    at = press(open_page("routines"), "Put one together")
    at.text_area[0].set_value("water and tasks")
    at = press(at.run(), "Put together")
    assert "made by rules" in texts(calm(at)) and "OLLAMA_BASE_URL" in texts(at) and stored(core) == ()
    at = press(at, "Save")
    assert stored(core)[0].origin == "rules" and "Morning: made." in texts(calm(at))


def test_put_together_by_a_model(
    env: Mapping[str, str], core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A good answer is a preview with its tier; changed first, it is saved as such."""
    answer = (
        '{"title": "Of the model", "steps": [{"type": "info_display", "label": "G", "config": {"source": "goals"}}]}'
    )
    with FakeOllama(answer) as server:
        monkeypatch.setenv("OLLAMA_BASE_URL", server.url)
        at = press(press(open_page("routines"), "Put one together"), "Put together")
        assert "made by the own server" in texts(calm(at)) and "Of the model" in texts(at)
        at = press(press(at, "Change it first"), "Save")
    assert stored(core)[0].origin == "server" and stored(core)[0].trigger == "manual"


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The database does not answer: says so in the list and in a run, then goes on."""
    ritual = add(core)

    def gone(*_: Any, **__: Any) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    with monkeypatch.context() as patched:
        patched.setattr(RitualStore, "list", gone)
        for query in ({}, {"routine": ritual.id}):
            at = open_page("routines", query=query)
            assert not at.exception and "Can't reach the memory database." in texts(at)
    at = press(press(at, "Retry now"), "Start")
    with monkeypatch.context() as patched:
        patched.setattr(RitualStore, "take", gone)
        at = press(calm(at), "Run")
        assert "Can't reach the memory database." in texts(calm(at))
    assert not rows(core, "companion_drink_entries")
    press(at, "Run")
    assert len(rows(core, "companion_drink_entries")) == 1


def test_one_that_is_gone(core: Core, open_page: Open) -> None:
    """An old address leads to the list, and says why."""
    at = open_page("routines", query={"routine": "00000000-0000-4000-8000-000000000001"})
    assert "There is no such routine." in texts(calm(at)) and "No routine yet" in texts(at)
