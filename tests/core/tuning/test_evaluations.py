"""Evaluations through the service: stored once, never changed, at once or as a job; the search for better boosts."""

from __future__ import annotations

import uuid

import psycopg
import pytest

from core.bootstrap import Core
from core.errors import InputError, NotFound
from core.jobs.job import Job
from core.memory.retrieval import SEED, Profile
from core.tuning import boost_search, evaluations
from core.tuning.boost_search import as_json, fit_of
from core.tuning.fit import Fit
from core.tuning.plan import Plan, params_of, plan_of
from tests.support.dialogs import body

OTHER = Profile("no boosts", 7)
TOPICS = ("trust", "walks by the river", "chess", "tea", "topic 3", "topic 4")


@pytest.fixture
def judged(core: Core) -> tuple[Core, str]:
    """Two dialogs with six queries each; messages are relevant, everything else is not."""
    made = core.tuning.labels.create("set")
    for key in ("k1", "k2"):
        core.ingest.ingest(body(key, messages=25))
        core.tuning.labels.add(made, key, [f"{topic} of {key}" for topic in TOPICS], category=f"about {key}")
    for query in core.tuning.labels.query_set(made).queries:
        sheet = core.tuning.labels.sheet(query, [SEED, Profile()])
        for grade, wanted in ((2, True), (0, False)):
            ids = [i for c in sheet.chunks if (c.row.source == "conversation") == wanted for i in c.ids]
            if ids:
                core.tuning.labels.judge(query.id, ids, grade)
    return core, made


def test_an_evaluation_is_stored_with_its_versions_and_event(judged: tuple[Core, str]) -> None:
    """Verdict, rule, coverage and the version of the set; one event, which names no query."""
    core, id = judged
    [made] = core.tuning.evaluations.run(Plan(id, SEED, (OTHER,)))
    version = core.tuning.labels.query_set(id).version
    assert (made.query_set, made.query_set_version, made.baseline_version, made.profile_version) == (id, version, 1, 7)
    assert made.verdict == "ship" and made.coverage == 1.0 and made.queries == 12
    assert core.tuning.evaluations.get(made.id) == made
    assert core.tuning.evaluations.page(query_set=id).rows[0].primary == made.primary
    core.events.flush()
    [event] = core.events.store.query(type="EvaluationRan").rows
    assert event.payload["evaluation_id"] == made.id and event.payload["verdict"] == "ship"
    with pytest.raises(NotFound):
        core.tuning.evaluations.get(str(uuid.uuid4()))


def test_no_key_of_ours_changes_an_evaluation(judged: tuple[Core, str], dsn: str) -> None:
    """Append-only: the role that the product works as may add and read."""
    core, id = judged
    core.tuning.evaluations.run(Plan(id, SEED, (OTHER,)))
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("set role service_role")
        for statement in ("update desk_evaluations set verdict = 'ship'", "delete from desk_evaluations"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(statement)
        for statement in ("update desk_judgements set grade = 3", "delete from desk_judgements"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                db.execute(statement)


def test_the_figures_are_those_of_the_real_search(judged: tuple[Core, str]) -> None:
    """Recall computed from what `search` returns equals what the evaluation says of the seed."""
    from core.memory.requests import SearchRequest

    core, id = judged
    [made] = core.tuning.evaluations.run(Plan(id, SEED, (OTHER,), metric="recall"))
    assert made.result is not None
    figures = {row["query_id"]: row["baseline"] for row in made.result["queries"]}
    for query in core.tuning.labels.query_set(id).queries:
        relevant = {chunk for chunk, grade in query.grades().items() if grade > 0}
        hits = core.search.search(SearchRequest(query.dialog_key, query.query)).hits
        assert figures[query.id] == pytest.approx(len({h.id for h in hits} & relevant) / len(relevant))


def test_many_queries_run_as_a_job(judged: tuple[Core, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Progress by query; done again after a crash it makes no second evaluation."""
    core, id = judged
    monkeypatch.setattr(evaluations, "AT_ONCE", 5)
    core.ingest.ingest(body("k3"))  # what was held of the candidates is forgotten
    core.events.flush()
    job = core.tuning.evaluations.start(Plan(id, SEED, (OTHER, Profile("words", 8, fusion=0.35))))
    assert isinstance(job, Job)
    ended = core.jobs.finish_here(job.id)
    assert ended.state == "done" and ended.result is not None and len(ended.result["evaluations"]) == 2
    assert (ended.done, ended.total) == (12, 12)
    assert core.tuning.evaluations.page(query_set=id).total == 2
    core.tuning.evaluations.run(plan_of(ended.params), ids=ended.result["evaluations"])
    assert core.tuning.evaluations.page(query_set=id).total == 2


def test_better_boosts(judged: tuple[Core, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, and as a job with the same answer; the event counts, and a map can be drawn from the same plan."""
    core, id = judged
    plan = Plan(id, SEED, (SEED,))
    found = core.tuning.boosts.start(plan, ["note", "profile"])
    assert isinstance(found, Fit) and found.train is not None and found.train.mean > 0
    assert found.held_out is not None and found.train_queries == found.held_out_queries == 6
    assert fit_of(as_json(found)).profile == found.profile
    assert core.tuning.boosts.heat(plan, "note", "profile").values.max() >= 0.5
    monkeypatch.setattr(boost_search, "AT_ONCE", -1)
    job = core.tuning.boosts.start(plan, ["note", "profile"])
    assert isinstance(job, Job)
    ended = core.jobs.finish_here(job.id)
    assert ended.result is not None and fit_of(ended.result).profile == found.profile


def test_what_cannot_be_asked(judged: tuple[Core, str]) -> None:
    """A figure, a number of places, an axis or a set that does not exist: in words, before any work."""
    core, id = judged
    empty = core.tuning.labels.create("empty")
    for plan in (
        Plan(id, SEED, (OTHER,), metric="luck"),
        Plan(id, SEED, (OTHER,), k=0),
        Plan(id, SEED, ()),
        Plan(empty, SEED, (OTHER,)),
    ):
        with pytest.raises(InputError):
            core.tuning.evaluations.run(plan)
    with pytest.raises(InputError):
        core.tuning.boosts.start(Plan(id, SEED, (OTHER,)), ["colour"])
    with pytest.raises(NotFound):
        core.tuning.evaluations.run(Plan(str(uuid.uuid4()), SEED, (OTHER,)))


def test_a_plan_survives_as_parameters() -> None:
    """Of a job: plain JSON, and back."""
    plan = Plan("s", SEED, (Profile("x", None, {"note": 0.1}, "sd", 0.35, 8, 900, {"note": 4}),), "ndcg", 6, True)
    assert plan_of(params_of(plan)) == plan or plan_of(params_of(plan)).profiles == plan.profiles
