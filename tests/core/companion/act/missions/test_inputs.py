"""Inputs: what can be chosen, what a reference says, and that a failing one is left out."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from core.bootstrap import Core
from core.companion.act.missions.inputs import Candidate, Source, Sources
from core.companion.act.missions.mission import Input
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, run_as, system, user
from tests.support.dialogs import body
from tests.support.missions import Field, draft


def source(name: str, resolve: Any) -> Source:
    return Source(name, "x", name, lambda: [Candidate(str(n), "c") for n in range(300)], resolve)


def broken(ref: str) -> Any:
    raise RuntimeError("quotes ru-4711")


def test_the_rest_is_resolved() -> None:
    """An unknown module, one that is gone and one that raises are left out with a warning each, in the order given."""
    known = Sources([source("good", lambda ref: ("T", ref)), source("gone", lambda ref: None), source("bad", broken)])
    found, warnings = known.resolve(
        [Input("bad", "x", "1"), Input("good", "x", "2"), Input("gone", "x", "3"), Input("new", "x", "4")]
    )
    assert [(one.module, one.content) for one in found] == [("good", "2")]
    assert warnings == (
        "An input of bad (x) could not be read; it was left out.",
        "An input of gone (x) is not there any more; it was left out.",
        "An input of new (x) is not there any more; it was left out.",
    )


def test_side_by_side() -> None:
    """Two that wait for each other both come."""
    both = threading.Barrier(2, timeout=20)
    known = Sources(
        [source("a", lambda ref: (ref, str(both.wait()))), source("b", lambda ref: (ref, str(both.wait())))]
    )
    assert len(known.resolve([Input("a", "x", "1"), Input("b", "x", "1")])[0]) == 2


def test_at_most_200_candidates() -> None:
    """And none where the module does not answer."""
    good = source("good", lambda ref: None)
    assert len(Sources([good]).candidates(good)) == 200
    bad = Source("bad", "x", "bad", lambda: broken(""), broken)
    assert Sources([bad]).candidates(bad) == ()


def test_every_source_lists_and_resolves(core: Core, field: Field) -> None:
    """Each kind gives candidates, each candidate says something, and nothing that only the memory holds."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    companion = core.companion
    with run_as(LOCAL_OPERATOR):
        companion.records.tasks.create('Call "Ann"', due_date="2026-12-01")
        now = companion.records.now()
        companion.records.appointments.create("Review", now, now + timedelta(hours=1))
    goals = companion.reflection.goals
    goals.add(LOCAL_OPERATOR, goals.templates[0].id)
    missions = companion.missions
    with run_as(system("mission-runner")):
        for one in missions.sources.all():
            candidates = missions.sources.candidates(one)
            assert candidates or one.kind == "fact", one.module
            found, warnings = missions.sources.resolve([Input(one.module, one.kind, c.ref) for c in candidates])
            assert not warnings and all(r.content for r in found)
            if one.kind == "dialog":
                assert found[0].dialog_key == candidates[0].ref and candidates[0].ref not in found[0].content
                assert "ru-1" not in found[0].content and "chunks" in found[0].content


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [((), "public"), ((Input("usage", "summary", "week"),), "personal"), ((Input("food", "meal", "1"),), "sensitive")],
)
def test_class_of_the_inputs(core: Core, inputs: Any, expected: str) -> None:
    """The highest; a kind that nobody knows counts as sensitive."""
    assert core.companion.missions.sources.content_class(inputs) == expected


def test_inputs_of_the_own_day_are_the_owners(core: Core, field: Field) -> None:
    """An operator is not offered them, and a mission that names one is refused, whoever drew the form."""
    missions = core.companion.missions
    operator, owner = user("op", roles=("operator",)), user("ow", roles=("owner",))
    own = Input("todo", "task", "open")
    with run_as(operator):
        assert {(s.module, s.kind) for s in missions.sources.all()} & {("todo", "task"), ("companion", "fact")} == set()
        with pytest.raises(Forbidden):
            missions.save(operator, draft(inputs=(own,)))
    with run_as(owner):
        assert ("todo", "task") in {(s.module, s.kind) for s in missions.sources.all()}
        assert missions.save(owner, draft(inputs=(own,))) == "created"
