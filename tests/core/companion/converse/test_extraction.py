"""The weekly look at counts: what leaves is counts alone, what comes back is held to its form, a person decides."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.converse.extraction import INSTRUCTIONS, Extraction, parse
from core.companion.converse.llm.choices import ModelChoices
from core.companion.converse.llm.own_server import OwnServer
from core.companion.converse.llm.router import Router
from core.companion.converse.llm.runs import AiRuns
from core.companion.records.records import Records
from core.errors import Forbidden
from core.events.actor import run_as
from core.events.event import Event
from tests.support.companion import agent
from tests.support.dialogs import body
from tests.support.fake_models import FakeOllama

ZONE = ZoneInfo("Europe/Kyiv")
FACT = {
    "category": "pattern",
    "content": "Tasks are completed on Mondays.",
    "fact_key": "monday-tasks",
    "confidence": 0.4,
    "evidence": ["todo.TaskCompleted"],
}
FIGURES = {"todo.TaskCompleted": {}, "drink.DrinkLogged": {}}


@dataclass
class Look:
    extraction: Extraction
    model: FakeOllama
    clock: FixedClock

    @property
    def sent(self) -> str:
        """Everything that the model was ever given, but for our own words."""
        return json.dumps([[m for m in r["messages"] if m["content"] != INSTRUCTIONS] for r in self.model.requests])


@contextmanager
def looking(core: Core, clock: FixedClock, *script: Any, server: bool = True) -> Iterator[Look]:
    with FakeOllama(*script) as fake:
        deps, companion = core.companion.deps, core.companion

        def known(words: list[str]) -> bool:
            return bool(deps.db.rpc("companion_names_people", {"p_words": words}, read=True, returns=dict)["known"])

        choices = ModelChoices(companion.settings, deps.events, clock)
        backends: Any = {"server": OwnServer(fake.url, "llama3.1")} if server else {}
        router = Router(backends, choices, AiRuns(deps.db), known, clock, ZONE)
        parts = (router, companion.reflection.facts, companion.act)
        made = Extraction(deps.db, deps.events, clock, ZONE, companion.settings, companion.modules, *parts)
        yield Look(made, fake, clock)


@pytest.fixture
def weeks(core: Core, clock: FixedClock) -> FixedClock:
    """Four weeks of tasks on Mondays, and meals whose events are nobody's business; now it is a Monday, 14:00."""
    rows = []
    for week in range(1, 5):
        monday = datetime(2026, 11, 30, 7, 30, tzinfo=UTC) - timedelta(weeks=week)
        for n in range(3):
            for type, payload in (
                ("TaskCompleted", {"task_id": "t", "title": "Call the bank about her loan"}),
                ("MealLogged", {"meal_id": "m", "calories": 700}),
                ("SearchPerformed", {"dialog_key": "the-dialog", "results": 3}),
            ):
                event = core.events.prepare(type, payload)
                whole = Event(event.type, event.payload, event.meta).row()
                rows.append({**whole, "ts": (monday + timedelta(minutes=n)).isoformat()})
    core.events.store.append(rows)
    return clock


def waiting(core: Core) -> list[Any]:
    return list(core.companion.act.proposals.list("pending", modules=("insights",)).rows)


def test_a_fact_is_proposed_and_kept_after_a_yes(core: Core, weeks: FixedClock) -> None:
    """Nothing is learned before; then with its origin, at the ladder's first step."""
    with looking(core, weeks, json.dumps([FACT])) as look:
        said = look.extraction.weekly()
    assert (said["asked"], said["proposed"], said["rejected"]) == (1, 1, 0)
    (proposal,) = waiting(core)
    assert (proposal.actor.kind, proposal.mission_id, proposal.tool_name) == ("ai", "extraction", "learn_fact")
    assert "todo.TaskCompleted" in proposal.rationale and not core.companion.reflection.facts.list(0.0)
    assert core.companion.act.proposals.approve(proposal.id).succeeded
    (fact,) = core.companion.reflection.facts.list(0.0)
    assert (fact.origin, fact.fact_key, fact.confidence, fact.source_modules) == (
        "llm",
        "llm:monday-tasks",
        0.3,
        ("todo",),
    )


def test_only_counts_leave(core: Core, weeks: FixedClock, records: Records) -> None:
    """No title, no id, no key, nothing of a sensitive part, no number that could be an id."""
    core.ingest.ingest(body("the-dialog"))
    records.tasks.create("Call the bank about her loan")
    with looking(core, weeks, "[]") as look:
        assert look.extraction.weekly()["asked"] == 1
        sent = look.sent
    assert "todo.TaskCompleted" in sent and '\\"per_week\\":[3,3,3,3]' in sent
    for secret in ("bank", "loan", "the-dialog", "Meal", "food", "Search", "memory.", "snapshots."):
        assert secret not in sent
    assert not re.search(r"\d{3}", sent)


def test_many_events_are_only_many(core: Core, weeks: FixedClock) -> None:
    """A hundred and more of a kind are told as such."""
    rows = []
    for _ in range(130):
        event = core.events.prepare("DrinkLogged", {"entry_id": "e", "drink_type": "water"})
        rows.append({**event.row(), "ts": datetime(2026, 11, 24, 9, tzinfo=UTC).isoformat()})
    core.events.store.append(rows)
    with looking(core, weeks, "[]") as look:
        look.extraction.weekly()
        assert "99+" in look.sent and "130" not in look.sent


def test_without_a_model_nothing_happens_and_it_says_so(core: Core, weeks: FixedClock) -> None:
    """The note names what is missing; the next day it is tried again."""
    with looking(core, weeks, server=False) as look:
        said = look.extraction.weekly()
        note = look.extraction.latest()
    assert said["asked"] == 0 and note is not None and note.why is not None and "not set" in note.why
    assert not waiting(core)
    with looking(core, weeks, json.dumps([FACT])) as look:
        assert look.extraction.weekly()["proposed"] == 1
        note = look.extraction.latest()
    assert note is not None and (note.why, note.tier, note.week) == (None, "server", "2026-11-30")


def test_once_a_week(core: Core, weeks: FixedClock) -> None:
    """The daily job of the same week asks nothing; that of the next one does."""
    with looking(core, weeks, "[]", "[]") as look:
        look.extraction.weekly()
        look.clock.at += timedelta(days=6)
        assert look.extraction.weekly()["asked"] == 0
        look.clock.at += timedelta(days=1)
        assert look.extraction.weekly()["asked"] == 1
        assert len(look.model.requests) == 2


def test_too_little(core: Core, clock: FixedClock) -> None:
    """An empty database is shown to nobody."""
    with looking(core, clock) as look:
        assert look.extraction.weekly()["asked"] == 0 and not look.model.requests


def test_known_and_declined_facts_are_not_proposed_again(core: Core, weeks: FixedClock) -> None:
    """What a person said no to stays so, in other words too; what waits is not doubled."""
    other = {**FACT, "content": "Mondays are for tasks."}
    answers = [json.dumps([FACT])] * 2 + [json.dumps([other])] * 2
    with looking(core, weeks, *answers) as look:
        look.extraction.now()
        look.extraction.now()
        (proposal,) = waiting(core)
        core.companion.act.proposals.reject(proposal.id, "no")
        assert look.extraction.now().proposed == 0 and not waiting(core)
    with looking(
        core, weeks, json.dumps([{**other, "fact_key": "b-key"}]), json.dumps([{**other, "fact_key": "b-key"}])
    ) as look:
        look.extraction.now()
        core.companion.act.proposals.approve(waiting(core)[0].id)
        assert look.extraction.now().proposed == 0


def test_a_fact_that_names_somebody_is_left_out(core: Core, weeks: FixedClock) -> None:
    """A model may make a name up, or have been told one: it is not even proposed."""
    core.ingest.ingest(body("the-dialog", ruId="ru4711"))
    with looking(core, weeks, json.dumps([{**FACT, "content": "ru4711 trusts her."}])) as look:
        assert look.extraction.weekly()["proposed"] == 0


def test_only_for_a_person(core: Core, weeks: FixedClock) -> None:
    """An AI does not set itself to work."""
    with looking(core, weeks, "[]") as look, run_as(agent()), pytest.raises(Forbidden):
        look.extraction.now()


@pytest.mark.parametrize(
    "change",
    [
        {"category": "secret"},
        {"category": ["pattern"]},
        {"content": "x" * 201},
        {"content": " "},
        {"content": "two\nlines"},
        {"content": 3},
        {"fact_key": "Has Blanks"},
        {"fact_key": "a"},
        {"fact_key": "k" * 81},
        {"confidence": 0.51},
        {"confidence": -0.1},
        {"confidence": True},
        {"confidence": "0.4"},
        {"evidence": []},
        {"evidence": ["unknown.figure"]},
        {"evidence": ["todo.TaskCompleted"] * 6},
        {"evidence": [["todo.TaskCompleted"]]},
        {"evidence": "todo.TaskCompleted"},
        {"more": 1},
    ],
)
def test_what_is_not_in_its_form_is_left_out(change: dict[str, Any]) -> None:
    """Unknown fields, values of another kind, over-long words; the others of the list stay."""
    found, rejected = parse(json.dumps([{**FACT, **change}, {**FACT, "fact_key": "good-one"}]), FIGURES)
    assert ([f["fact_key"] for f in found], rejected) == (["good-one"], 1)


@pytest.mark.parametrize("text", ["", "Here you are: []", '{"facts": []}', "[" * 5_000, "null", "[{]"])
def test_what_is_no_list(text: str) -> None:
    """Nothing is taken out of prose."""
    assert parse(text, FIGURES) == ([], 1)


def test_a_fence_is_taken_off_and_keys_are_told_once() -> None:
    """As models write; the first of two with one key counts, and ten at most."""
    twice = [FACT, {**FACT, "content": "Another."}, *({**FACT, "fact_key": f"k-{n:02}"} for n in range(15))]
    found, rejected = parse(f"```json\n{json.dumps(twice)}\n```", FIGURES)
    assert found[0]["content"] == FACT["content"] and len(found) == 9 and rejected == len(twice) - 9
