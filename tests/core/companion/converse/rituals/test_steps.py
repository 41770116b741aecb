"""What a step may be, each fault by the name of its field; every template fits the real tools."""

from __future__ import annotations

from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.toolbox import Toolbox
from core.companion.converse.rituals.step import Step
from core.companion.converse.rituals.steps import check_step, check_steps
from core.companion.converse.rituals.templates import TEMPLATES, offered
from core.errors import InputError
from tests.core.companion.converse.rituals.conftest import Bench, call, info, number, text


@pytest.fixture
def find(bench: Bench) -> Any:
    return Toolbox(bench.module().tools).find


GOOD = (
    call("clean", params={"preview_id": "x", "expected_count": "3"}, ask=["query"]),
    number(min=1, max=9, default=2, unit="ml", base_params={"text": "x"}),
    text(placeholder="Some words"),
    Step("mood_picker", "Mood", {"tool": "note", "param": "number"}),
    info(),
    Step("checklist", "List", {"items": [{"label": "One"}, {"label": "Two", "tool": "note", "params": {"number": 1}}]}),
)


def test_the_six_kinds(find: Any) -> None:
    """Each is taken, numbers in words coerced, and the clean form is taken again as it is."""
    found = check_steps(GOOD, find)
    assert [step.type for step in found] == [step.type for step in GOOD]
    assert found[0].config["params"] == {"preview_id": "x", "expected_count": 3}
    assert check_steps(found, find) == found


@pytest.mark.parametrize(
    ("step", "field"),
    [
        ({"type": "breath", "label": "x", "config": {}}, "type"),
        ({"type": "info_display", "label": " ", "config": {"source": "goals"}}, "label"),
        ({"type": "info_display", "label": "x", "config": {"source": "weather"}}, "source"),
        ({"type": "info_display", "label": "x", "config": {"source": "goals", "tool": "note"}}, "tool"),
        ({"type": "info_display", "label": "x", "config": []}, "config"),
        ({"type": "info_display", "label": "x", "config": {"source": "goals"}, "id": 1}, "step"),
        (call("nothing"), "tool"),
        (call("clean", params={"preview_id": "x"}), "params"),
        (call("note", params={"number": "many"}), "params"),
        (call("note", params={"foreign": 1}), "params"),
        (call("note", ask=["foreign"]), "ask"),
        (call("note", params={"text": "x"}, ask=["text"]), "params"),
        (call("note", take={"text": "find.words"}), "take"),
        (number(param="text"), "param"),
        (number(min=5, max=1), "min"),
        (number(min=5, max=9, default=1), "default"),
        (number(max=9000), "max"),
        (number(min="5"), "min"),
        (text(param="number"), "param"),
        (Step("mood_picker", "x", {"tool": "clean", "param": "preview_id"}), "base_params"),
        (Step("checklist", "x", {"items": []}), "items"),
        (Step("checklist", "x", {"items": [{"label": "x", "tool": "nothing"}]}), "tool"),
        ("prose", "step"),
    ],
)
def test_faults_name_their_field(find: Any, step: Any, field: str) -> None:
    """One fault each; in a list the number of the step stands before it."""
    with pytest.raises(InputError) as fault:
        check_step(step, find)
    assert fault.value.field == field
    with pytest.raises(InputError) as fault:
        check_steps((info(), step), find)
    assert fault.value.field == f"steps.2.{field}"


def test_how_many(find: Any) -> None:
    """At least one, at most what is said."""
    for steps in ((), (info(),) * 11):
        with pytest.raises(InputError) as fault:
            check_steps(steps, find, most=10)
        assert fault.value.field == "steps"


def test_every_template_fits(core: Core) -> None:
    """Seven of them, each of known tools and valid arguments; without the tools none is offered."""
    assert [t.id for t in offered(core.companion.act.toolbox.find)] == [t.id for t in TEMPLATES]
    assert len(TEMPLATES) == 7 and offered(Toolbox().find) == ()
