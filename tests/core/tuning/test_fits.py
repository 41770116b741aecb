"""A profile that a search found does not prove itself on the queries that the search saw."""

from __future__ import annotations

import uuid
from dataclasses import replace

import psycopg
import pytest
from psycopg.types.json import Jsonb

from core.bootstrap import Core
from core.errors import ConflictError, InputError
from core.memory.retrieval import SEED, Profile
from core.tuning.fit import Fit
from core.tuning.plan import Plan
from tests.core.tuning.test_evaluations import judged  # noqa: F401  (a fixture)


@pytest.fixture
def found(judged: tuple[Core, str]) -> tuple[Core, str, Fit]:  # noqa: F811
    """What a search over the note boost found on a set of two dialogs, and that set."""
    core, id = judged
    made = core.tuning.boosts.run(Plan(id, SEED, (SEED,)), ["note", "profile"])
    assert made.id and 0 < made.train_queries < 12
    return core, id, made


def evaluate(core: Core, set_id: str, version: int) -> str:
    return core.tuning.evaluations.run(Plan(set_id, SEED, (core.profiles.all().of(version).profile,)))[0].id


def origin(core: Core, version: int) -> tuple[object, ...]:
    return core.profiles.all().of(version).fits


def test_a_version_found_on_a_set_is_measured_on_what_was_kept_out(found: tuple[Core, str, Fit]) -> None:
    """The queries that the search saw, and others of their dialogs, are not in the evaluation, which says so."""
    core, id, fit = found
    version = core.loop.propose(replace(fit.profile, name="found"), query_set=id)
    [origin] = core.profiles.all().of(version).fits
    assert (origin.id, origin.query_set, origin.train_queries) == (fit.id, id, fit.train_queries)
    assert fit.held_out is not None and origin.held_out is not None
    assert origin.held_out["mean"] == pytest.approx(fit.held_out.mean)

    seen = {q.dialog_key for q in core.tuning.labels.query_set(id).queries if q.id in fit.train_ids}
    made = core.tuning.evaluations.get(evaluate(core, id, version))
    assert made.result is not None and made.result["fits"] == [fit.id]
    assert {row["dialog_key"] for row in made.result["queries"]}.isdisjoint(seen)
    assert made.queries == fit.held_out_queries == 12 - made.result["seen_queries"]
    core.loop.approve(version, made.id)
    core.loop.activate(version)


def test_a_figure_of_the_searched_queries_cannot_approve_it(found: tuple[Core, str, Fit], dsn: str) -> None:
    """SQL refuses an evaluation that did not leave them out, for approval and for what was approved before."""
    core, id, fit = found
    version = core.loop.propose(replace(fit.profile, name="found"), query_set=id)
    whole = str(uuid.uuid4())
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "insert into desk_evaluations (id, query_set, query_set_version, baseline_version, profile_version, result,"
            " verdict, rule, queries, coverage) values (%s, %s, 1, 1, %s, '{}', 'ship', 'r', 12, 1)",
            (whole, id, version),
        )
        with pytest.raises(ConflictError, match="found with"):
            core.loop.approve(version, whole)
        connection.execute(
            "insert into desk_profile_approvals (version, evaluation_id, approved_by, self_approved)"
            """ values (%s, %s, '{"kind": "user", "principal_id": "ann"}', false)""",
            (version, whole),
        )
    with pytest.raises(ConflictError, match="No evaluation covers"):
        core.loop.activate(version)


def test_the_origin_follows_the_numbers(found: tuple[Core, str, Fit]) -> None:
    """Typed in anew with three digits, with another limit, or named by a draft that was changed: the origin stays."""
    core, _, fit = found
    copied = replace(
        fit.profile, name="by hand", limit=8, weights={s: round(b, 3) for s, b in fit.profile.weights.items()}
    )
    assert origin(core, core.loop.propose(copied))
    changed = Profile("changed", weights={"note": 0.007}, fusion=0.1)
    assert not origin(core, core.loop.propose(changed))
    assert origin(core, core.loop.propose(changed, fits=[str(fit.id)]))


def test_another_set_counts_whole(found: tuple[Core, str, Fit]) -> None:
    """What was found on one set is measured on all queries of another."""
    core, _, fit = found
    other = core.tuning.labels.create("other")
    core.tuning.labels.add(other, "k1", ["a question of its own"])
    version = core.loop.propose(replace(fit.profile, name="found"), query_set=other)
    made = core.tuning.evaluations.get(evaluate(core, other, version))
    assert made.result is not None and made.result["fits"] == [] and made.result["seen_queries"] == 0
    core.loop.approve(version, made.id)


def test_a_search_from_a_found_profile_inherits_what_was_seen(found: tuple[Core, str, Fit], dsn: str) -> None:
    """The second fit has seen what the first one saw as well; a search that finds nothing better is no fit."""
    core, id, fit = found
    assert core.tuning.boosts.run(Plan(id, fit.profile, (fit.profile,)), ["note", "profile"]).id is None
    start = Profile("a bad start", weights={"note": 0.5})
    elsewhere = [q.id for q in core.tuning.labels.query_set(id).queries if q.id not in fit.train_ids][:1]
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "update desk_fits set body = %s, ranking_key = desk_ranking_key(%s), seen = %s::uuid[]",
            (Jsonb(start.as_json()), Jsonb(start.as_json()), elsewhere),
        )
        again = core.tuning.boosts.run(Plan(id, start, (start,)), ["note"])
        [seen] = connection.execute("select seen::text[] from desk_fits where id = %s", (again.id,)).fetchone() or ()
    assert set(seen) == {*again.train_ids, *elsewhere}


def test_a_set_that_was_searched_whole_proves_nothing(core: Core, judged: tuple[Core, str], dsn: str) -> None:  # noqa: F811
    """With no dialog kept out there is nothing to evaluate on, and it says so; nothing is stored."""
    _, id = judged
    made = core.tuning.boosts.run(Plan(id, SEED, (SEED,)), ["note", "profile"])
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            "update desk_fits set seen = (select array_agg(q.id) from desk_queries q where q.query_set = %s)", (id,)
        )
    with pytest.raises(InputError, match="Every dialog"):
        core.tuning.evaluations.run(Plan(id, SEED, (made.profile,)))
    assert core.tuning.evaluations.page(query_set=id).total == 0


def test_the_search_says_what_it_found_once(found: tuple[Core, str, Fit]) -> None:
    """Its event stands with the fit."""
    core, id, _ = found
    rows = core.events.store.query(type="GridSearched", limit=5).rows
    assert [row.payload["query_set"] for row in rows] == [id]
