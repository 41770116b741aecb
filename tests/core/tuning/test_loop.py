"""Propose, approve, activate, go back, as the product does it; and that searches follow at once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest

from core.errors import ConflictError, Forbidden, InputError, NotFound
from core.events.actor import ai, run_as, user
from core.memory.requests import SearchRequest, parse_search
from core.memory.retrieval import Profile
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core

SET = "00000000-0000-4000-8000-00000000000a"
WORDS = Profile("words", weights={"note": 0.4}, unit="sd", fusion=0.35, limit=3, quotas={"profile": 0})


def evaluated(dsn: str, version: int) -> str:
    made = str(uuid.uuid4())
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "insert into desk_evaluations (id, query_set, query_set_version, baseline_version, profile_version, result,"
            " verdict, rule, queries, coverage) values (%s, %s, 1, 1, %s, '{}', 'ship', 'r', 60, 1)",
            (made, SET, version),
        )
    return made


def bring_into_force(core: Core, dsn: str, profile: Profile) -> int:
    version = core.loop.propose(profile, query_set=SET)
    core.loop.approve(version, evaluated(dsn, version))
    core.loop.activate(version)
    return version


def test_searches_follow_the_active_profile_and_come_back_exactly(core: Core, dsn: str) -> None:
    """Version and results change from the next search on; after a revert they are what they were before."""
    core.ingest.ingest(body("k1"))
    request = parse_search({"dialogKey": "k1", "query": "serious relationship and trust"})
    before = core.search.search(request)
    version = bring_into_force(core, dsn, WORDS)
    during = core.search.search(request)
    assert during.weights_version == version and len(during.hits) <= 3
    assert "profile" not in {hit.source for hit in during.hits}
    assert any(hit.lexical for hit in during.hits)
    for hit in during.hits:
        assert hit.weighted_score == hit.cosine + hit.lexical + hit.boost
    explained = during.as_json(explain=True)
    assert explained["weightsVersion"] == version and explained["profile"]["fusion"] == 0.35
    explored = core.search.explore(request)
    assert [hit.id for hit in during.hits] == list(explored_ids(explored))

    core.loop.revert(version, reason="worse")
    after = core.search.search(request)
    assert (after.hits, after.weights_version, after.profile) == (before.hits, before.weights_version, before.profile)


def explored_ids(found: object) -> tuple[str, ...]:
    from core.memory.search import best_hits

    return tuple(hit.id for hit in best_hits(found))  # type: ignore[arg-type]


def test_weights_of_a_caller_still_override(core: Core, dsn: str) -> None:
    """`sourceWeights` give the plain search, whatever is active."""
    core.ingest.ingest(body("k1"))
    request = SearchRequest("k1", "trust", weights={"note": 0.18, "profile": 0.08, "photo": 0.05})
    before = core.search.search(request).hits
    bring_into_force(core, dsn, WORDS)
    assert core.search.search(request).hits == before


def test_each_step_is_an_event_with_its_actor(core: Core, dsn: str) -> None:
    """Who proposed, approved, activated and reverted is in the chain; whoever approves their own is recorded so."""
    with run_as(user("ann", roles=("tuner",))):
        version = core.loop.propose(WORDS, query_set=SET, note="more words")
    made = evaluated(dsn, version)
    with run_as(user("bea", roles=("tuner",))):
        assert core.loop.approve(version, made).self_approved is False
        core.loop.activate(version)
        core.loop.revert(version)
    found = [e for e in core.events.store.query(app_id="tuning", limit=20).rows if e.type.startswith("Profile")]
    assert [(e.type, e.actor.principal_id) for e in reversed(found)] == [
        ("ProfileProposed", "ann"),
        ("ProfileApproved", "bea"),
        ("ProfileActivated", "bea"),
        ("ProfileReverted", "bea"),
    ]
    own = core.loop.propose(WORDS, query_set=SET)
    assert core.loop.approve(own, evaluated(dsn, own)).self_approved is True


def test_refusals_have_words(core: Core, dsn: str) -> None:
    """No evaluation, no approval, nothing to go back to, no such version; and an AI may do none of it."""
    version = core.loop.propose(WORDS, query_set=SET)
    with pytest.raises(ConflictError, match="No evaluation covers"):
        core.loop.approve(version, evaluated(dsn, 1))
    with pytest.raises(ConflictError, match="Nobody has approved"):
        core.loop.activate(version)
    with pytest.raises(ConflictError, match="no profile to go back to"):
        core.loop.revert(1)
    with pytest.raises(NotFound):
        core.loop.activate(99)
    with pytest.raises(InputError):
        core.loop.propose(Profile(" "))
    robot = ai("m", "Model", mission_id="m1", iteration_id="i1", rationale="better")
    with run_as(robot), pytest.raises(Forbidden):
        core.loop.propose(WORDS)
    assert core.search.active_profile().version == 1


def test_the_list_tells_the_whole_story(core: Core, dsn: str) -> None:
    """Newest version first, each with its state, and where one click goes back to."""
    version = bring_into_force(core, dsn, WORDS)
    idle = core.loop.propose(Profile("idle"))
    found = core.profiles.all()
    assert (found.active, found.previous) == (version, 1)
    assert [(p.version, found.state(p.version)) for p in found.profiles] == [
        (idle, "proposed"), (version, "active"), (1, "retired"),
    ]  # fmt: skip
    assert found.of(version).profile.as_json() == WORDS.as_json() and found.of(version).verdict == "ship"


def test_a_check_of_what_is_live(core: Core, dsn: str) -> None:
    """Figures of the active profile and the one before, from recorded searches alone."""
    core.ingest.ingest(body("k1"))
    core.search.search(SearchRequest("k1", "trust"))
    bring_into_force(core, dsn, WORDS)
    core.search.search(SearchRequest("k1", "trust"))
    core.search.search(SearchRequest("k1", "photo"))
    assert core.retrievals.recorder.flush(10)
    found = core.after_checks.look()
    assert found.before is not None and (found.now.searches, found.before.searches) == (2, 1)
    assert found.now.unjudged == 1.0 and sum(found.now.slots.values()) > 0
    assert not found.enough and found.findings == ()
