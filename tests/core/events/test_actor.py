"""Actors: three kinds, one ambient, and whatever old rows hold."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.events.actor import Actor, ai, current_actor, normalize_actor, run_as, system, user

ANNA, BOB = user("anna", "Anna"), user("bob", "Bob")


def test_the_three_kinds() -> None:
    """A person, a part of the product, an AI with its mission; each says so in JSON."""
    assert ANNA.as_json() == {"kind": "user", "principal_id": "anna", "display_name": "Anna"}
    assert system("rule").principal_id == "system:rule"
    acting = ai("gemini", "Gemini", mission_id="m1", iteration_id="i1", rationale="asked to")
    assert acting.as_json()["rationale"] == "asked to"


def test_an_ai_without_its_reason_is_refused() -> None:
    """Mission, iteration and rationale are all required."""
    with pytest.raises(ValueError):
        ai("gemini", "Gemini", mission_id="m1", iteration_id="i1", rationale="")


def test_an_actor_is_frozen() -> None:
    """History does not change when somebody is renamed."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        ANNA.display_name = "Other"  # type: ignore[misc]


@pytest.mark.nobody
def test_run_as_nests_and_restores() -> None:
    """The innermost actor counts; each former one returns."""
    assert current_actor() is None
    with run_as(ANNA):
        with run_as(BOB):
            assert current_actor() == BOB
        assert current_actor() == ANNA
    assert current_actor() is None


@pytest.mark.nobody
def test_run_as_restores_after_an_exception() -> None:
    """Case 7: a failure inside leaves nobody behind."""
    with pytest.raises(KeyError), run_as(ANNA):
        raise KeyError
    assert current_actor() is None


def test_run_as_works_across_await() -> None:
    """Case 7: two tasks that take turns keep their own actors."""

    async def work(actor: Actor) -> list[Actor | None]:
        with run_as(actor):
            seen = [current_actor()]
            await asyncio.sleep(0.001)
            return [*seen, current_actor()]

    async def both() -> list[list[Actor | None]]:
        return await asyncio.gather(work(ANNA), work(BOB))

    assert asyncio.run(both()) == [[ANNA, ANNA], [BOB, BOB]]


def test_a_thread_inherits_only_what_it_is_given() -> None:
    """A bare thread has no actor; one that runs in a copy of the context has."""
    seen: list[Actor | None] = []
    with run_as(ANNA):
        context = contextvars.copy_context()
        for target in (lambda: seen.append(current_actor()), lambda: context.run(lambda: seen.append(current_actor()))):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
    assert seen == [None, ANNA]


@pytest.mark.parametrize(
    ("raw", "kind", "principal"),
    [
        (None, "user", "legacy:unknown"),
        ("anna", "user", "legacy:unknown"),
        (17, "user", "legacy:unknown"),
        ({}, "user", "legacy:unknown"),
        ({"kind": "robot", "principal_id": "x"}, "user", "legacy:unknown"),
        ({"kind": "user"}, "user", "legacy:user"),
        ({"kind": "user", "principal_id": "anna"}, "user", "anna"),
        ({"kind": "system", "source": "stream"}, "system", "system:stream"),
        ({"kind": "system"}, "system", "legacy:system"),
        ({"kind": "ai", "principal_id": "gemini"}, "ai", "gemini"),
        ({"kind": "ai"}, "ai", "legacy:ai"),
    ],
)
def test_normalize_fills_what_is_missing(raw: object, kind: str, principal: str) -> None:
    """Case 11: None, text, unknown kinds and the old system form all become an actor."""
    actor = normalize_actor(raw)
    assert (actor.kind, actor.principal_id) == (kind, principal)
    assert actor.display_name


def test_a_valid_actor_is_returned_as_is() -> None:
    """The same object, and the same actor out of its JSON."""
    for actor in (ANNA, system("rule"), ai("g", "G", mission_id="m", iteration_id="i", rationale="r")):
        assert normalize_actor(actor) is actor
        assert normalize_actor(actor.as_json()) == actor


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["kind", "principal_id"]), inner),
)


@given(
    _json | st.dictionaries(st.sampled_from(["kind", "principal_id", "display_name", "source", "mission_id"]), _json)
)
def test_normalize_never_raises(raw: object) -> None:
    """Whatever a row holds, there is an actor."""
    assert isinstance(normalize_actor(raw), Actor)


@pytest.mark.parametrize("kind", ["user", "system", "ai"])
def test_normalize_takes_odd_values_in_every_field(kind: str) -> None:
    """Lists, numbers and empty texts in place of names are filled or read as text."""
    actor = normalize_actor({"kind": kind, "principal_id": [1], "display_name": "", "source": {}, "mission_id": 4})
    assert actor.kind == kind and actor.principal_id


@pytest.mark.nobody
def test_a_host_says_who_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only outside of every `run_as`, and without asking in a circle."""
    seen: list[Actor | None] = []

    def host() -> Actor | None:
        seen.append(current_actor())
        return ANNA

    monkeypatch.setattr("core.events.actor._host", host)
    assert current_actor() == ANNA and seen == [None]
    with run_as(BOB):
        assert current_actor() == BOB
    assert len(seen) == 1
