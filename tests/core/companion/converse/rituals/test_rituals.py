"""Routines made, changed, paused, archived, deleted and brought back; what their info steps show."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.companion.converse.rituals.opening import Routines
from core.companion.converse.rituals.rituals import drafted, explain
from core.companion.converse.rituals.sources import Now, read
from core.companion.converse.rituals.step import SOURCES
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import LOCAL_OPERATOR
from tests.core.companion.conftest import Told
from tests.core.companion.converse.rituals.conftest import Make, call, info

ME = LOCAL_OPERATOR


def test_made_once_with_its_event(routines: Routines, told: Told) -> None:
    """The same form twice is one routine; the event names who and what."""
    ritual = drafted("  Mine  ", "morning", (info(), call("note")), description=" a \n b ")
    assert routines.rituals.save(ME, ritual).outcome == "created"
    assert routines.rituals.save(ME, ritual).outcome == "same"
    (kept,) = routines.rituals.list()
    assert (kept.title, kept.description, kept.version, len(kept.steps)) == ("Mine", "a b", 1, 2)
    event: Any
    (event,) = told("RitualChanged", whole=True)
    assert event.payload["change"] == "created" and event.payload["steps"] == 2 and event.actor.kind == "user"


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"title": " "}, "title", "Title"),
        ({"title": "x" * 61}, "title", "Title"),
        ({"description": "x" * 501}, "description", "Description"),
        ({"trigger": "noon"}, "trigger", "Trigger"),
        ({"steps": ()}, "steps", "Steps"),
        ({"steps": (info(), call("nothing"))}, "steps.2.tool", "Step 2, tool"),
    ],
)
def test_faults_name_their_field(routines: Routines, change: Any, field: str, words: str) -> None:
    """And nothing is stored."""
    with pytest.raises(InputError) as fault:
        routines.rituals.save(ME, replace(drafted("Mine", "manual", (info(),)), **change))
    assert fault.value.field == field and explain(field) == words
    assert routines.rituals.list() == ()


def test_two_who_change_one(routines: Routines, make: Make) -> None:
    """The second is told, and changes nothing."""
    ritual = make(info())
    routines.rituals.save(ME, replace(ritual, title="First"))
    with pytest.raises(ConflictError):
        routines.rituals.save(ME, replace(ritual, title="Second"))
    assert routines.rituals.get(ritual.id).title == "First"


def test_through_its_life(routines: Routines, make: Make, told: Told) -> None:
    """Pause and archive refuse a start and close a run; delete is soft, and what is gone is said."""
    ritual = make(call("note"))
    routines.runner.start(ME, ritual)
    assert routines.rituals.change_status(ME, ritual, "paused").before == "active"
    assert routines.rituals.change_status(ME, ritual, "paused").outcome == "unchanged"
    assert routines.rituals.get(ritual.id).running is None
    with pytest.raises(ConflictError):
        routines.runner.start(ME, ritual)
    routines.rituals.change_status(ME, ritual, "archived")
    routines.rituals.change_status(ME, ritual, "deleted")
    assert routines.rituals.list() == () and routines.rituals.runs().rows[0].deleted
    for act in (
        lambda: routines.rituals.get(ritual.id),
        lambda: routines.rituals.get("no id"),
        lambda: routines.rituals.change_status(ME, ritual, "active"),
        lambda: routines.rituals.save(ME, ritual),
        lambda: routines.runner.start(ME, ritual),
    ):
        with pytest.raises(NotFound):
            act()
    routines.rituals.change_status(ME, ritual, "restored")
    assert routines.rituals.get(ritual.id).status == "archived"
    changes = [payload["change"] for payload in told("RitualChanged")]
    assert changes == ["created", "paused", "archived", "deleted", "restored"]


def test_every_source_has_lines(core: Core) -> None:
    """On an empty database too; a part that failed is not known; one of another version is none."""
    now = core.companion.routines.now()
    for source in SOURCES:
        found = read(source, now)
        assert found is not None and found.known and found.lines, source
        assert all(isinstance(part, str) for line in found.lines for part in line)
    failed = Now(now.now, {**now.day, "errors": dict.fromkeys(now.day, "database")}, None, None)
    assert {read(source, failed).known for source in SOURCES} == {False}  # type: ignore[union-attr]
    assert read("weather", now) is None


def test_sources_show_what_is_there(core: Core) -> None:
    """Titles as they are, figures of today."""
    records = core.companion.records
    records.tasks.create("Call _the_ bank", due_date=records.today().isoformat())
    records.drinks.log("water", 250)
    core.companion.projections.invalidate()
    now = core.companion.routines.now()
    assert ("Due today", "Call _the_ bank") in read("tasks_today", now).lines  # type: ignore[union-attr]
    assert read("drink_progress", now).lines[0][1].startswith("250 of")  # type: ignore[union-attr]


def test_nobody_else_reads_or_writes(core: Core, dsn: str) -> None:
    """No policy, no grant, no function for the public roles."""
    with psycopg.connect(dsn) as db:
        for role in ("anon", "authenticated"):
            for table in ("companion_rituals", "companion_ritual_steps", "companion_ritual_logs"):
                row = db.execute("select has_table_privilege(%s, %s, 'select')", (role, table)).fetchone()
                assert row == (False,)
            found = db.execute(
                "select count(*) from pg_proc where proname like 'companion_ritual_%%'"
                " and has_function_privilege(%s, oid, 'execute')",
                (role,),
            ).fetchone()
            assert found == (0,)


def test_a_key_in_a_routine_is_erased_with_its_dialog(core: Core) -> None:
    """Also where somebody fixed it in a step or wrote it into a title."""
    key = "cd" * 32
    step = call("dialog_status", params={"dialog_key": key})
    ritual = drafted("Mine", "manual", (replace(step, label=f"Look at {key}"),), description=f"about {key}")
    core.companion.routines.rituals.save(ME, ritual)
    core.erasures.erase(key, "request")
    rows = [core.db.sample("companion_rituals", "*", order="id", limit=5)]
    rows.append(core.db.sample("companion_ritual_steps", "*", order="pos", limit=5))
    assert key not in json.dumps(rows)
