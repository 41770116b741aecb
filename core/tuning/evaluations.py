"""Evaluations and searches for better boosts, as one service: at once where it takes a moment, else as a job.

For whoever acts on an evaluation (approval of a profile): `desk_evaluations` is append-only, with the columns `id uuid,
query_set uuid, query_set_version int, baseline_version int, profile_version int, result jsonb, verdict text, rule text,
queries int, coverage numeric, created_at, actor jsonb`. verdict is ship, no evidence, worse or coverage too low; a
version is null for a profile that is not stored; `result.llm` says that a model's labels counted too; `result.fits`
names the fits whose dialogs were left out, because one of the two profiles was found with them.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access.roles import permit
from core.db.client import Database
from core.errors import InputError, NotFound
from core.events.emitter import Events
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun
from core.tuning.evaluation import as_result, compare, measured
from core.tuning.fits import Fits
from core.tuning.judged import Judged
from core.tuning.label_store import LabelStore
from core.tuning.labels import QuerySet
from core.tuning.plan import Plan, params_of, plan_of
from core.tuning.shelf import Shelf

KIND = "evaluate"
AT_ONCE = 60  # queries that may have to be asked for while somebody waits


@dataclass(frozen=True)
class Evaluation:
    """A stored comparison; `result` as `evaluation.as_result` makes it, None in a list."""

    id: str
    query_set: str
    query_set_version: int
    baseline_version: int | None
    profile_version: int | None
    verdict: str
    rule: str
    queries: int
    coverage: float
    created_at: str
    actor: Mapping[str, Any]
    result: Mapping[str, Any] | None = None
    set_name: str | None = None
    names: Mapping[str, str] | None = None
    primary: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class EvaluationPage:
    rows: tuple[Evaluation, ...]
    total: int


class Evaluations:
    """Thread-safe; one per process. Errors of every call: Forbidden, DatabaseError, and those of the embedder."""

    def __init__(self, db: Database, store: LabelStore, shelf: Shelf, fits: Fits, events: Events, jobs: Jobs) -> None:
        self._db = db
        self._store = store
        self._shelf = shelf
        self._fits = fits
        self._events = events
        self._jobs = jobs
        jobs.register(KIND, self._job, action="evaluate", title="Evaluate profiles")

    def get(self, id: str) -> Evaluation:
        """Errors: NotFound."""
        permit("judgements")
        row: Any = self._db.rpc("desk_evaluation", {"p_id": id}, read=True)
        if not isinstance(row, Mapping):
            raise NotFound("There is no such evaluation.")
        return _evaluation(row)

    def page(
        self, *, query_set: str | None = None, profile_version: int | None = None, limit: int = 25, offset: int = 0
    ) -> EvaluationPage:
        """Without their details, the latest first."""
        permit("judgements")
        params = {
            "p_query_set": query_set,
            "p_profile_version": profile_version,
            "p_limit": limit,
            "p_offset": offset,
        }
        answer = self._db.rpc("desk_evaluation_list", params, read=True, returns=dict)
        return EvaluationPage(tuple(_evaluation(row) for row in answer["rows"]), int(answer["total"]))

    def pool(
        self,
        query_set: str,
        *,
        llm: bool = False,
        progress: Callable[[int, int], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> tuple[QuerySet, list[Judged]]:
        """A set with the candidates and grades of its queries. Errors: NotFound, InputError for one without queries."""
        permit("judgements")
        given = self._store.read(query_set)
        if given is None:
            raise NotFound("This query set is not there.", hint="Choose another one.")
        if not given.queries:
            raise InputError("The query set has no query.", hint="Add some under Query sets.")
        found = self._shelf.found(given.queries, progress=progress, check=check)
        by_id = {query.id: query for query in given.queries}
        return given, [one.judged(by_id[one.query.id], llm=llm) for one in found]

    def waiting(self, query_set: str) -> int:
        """Queries of a set whose candidates have still to be asked for."""
        given = self._store.read(query_set)
        return self._shelf.waiting(given.queries) if given else 0

    def start(self, plan: Plan, *, id: str | None = None) -> tuple[Evaluation, ...] | Job:
        """The evaluations where it took a moment, else the job that makes them. Errors: InputError, JobRunning."""
        permit("evaluate")
        plan.checked()
        if self.waiting(plan.query_set) <= AT_ONCE:
            return self.run(plan)
        return self._jobs.start(KIND, params_of(plan), key=f"{KIND}:{plan.query_set}", id=id)

    def run(
        self,
        plan: Plan,
        *,
        ids: Sequence[str] = (),
        progress: Callable[[int, int], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> tuple[Evaluation, ...]:
        """Every profile against the baseline, each stored with its event. `ids`: those to store them under.

        Dialogs with which one of the two was found are left out. Errors: InputError too where none is left.
        """
        permit("evaluate")
        plan.checked()
        began = time.perf_counter()
        given, pool = self.pool(plan.query_set, llm=plan.llm, progress=progress, check=check)
        known = self._fits.of(given.id, plan.baseline)
        sides = [self._fits.of(given.id, profile) | known for profile in plan.profiles]
        if not all(fitted.unseen(pool) for fitted in sides):
            raise InputError(
                "Every dialog of this set was used to find one of the profiles.", hint="Evaluate it on another set."
            )
        made = []
        for number, (profile, fitted) in enumerate(zip(plan.profiles, sides, strict=True)):
            held = fitted.unseen(pool)
            baseline = measured(held, plan.baseline, plan.k)
            done = compare(held, baseline, measured(held, profile, plan.k), plan.metric, plan.k)
            difference = done.differences[plan.metric]
            row = {
                "id": ids[number] if number < len(ids) else str(uuid.uuid4()),
                "query_set": given.id,
                "query_set_version": given.version,
                "baseline_version": plan.baseline.version,
                "profile_version": profile.version,
                "result": as_result(held, done, llm=plan.llm)
                | {"fits": sorted(fitted.fits), "seen_queries": len(pool) - len(held)},
                "verdict": done.verdict.word,
                "rule": done.verdict.rule,
                "queries": done.queries.of,
                "coverage": round(min(baseline.coverage, done.profile.coverage), 6),
            }
            payload = {
                "evaluation_id": row["id"],
                "metric": f"{plan.metric}:{plan.k}",
                "verdict": done.verdict.word.replace(" ", "_"),
                "llm": plan.llm,
                "duration_ms": (time.perf_counter() - began) * 1000,
                **{name: row[name] for name in ("query_set", "queries", "coverage")},
                **{name: row[name] for name in ("query_set_version", "baseline_version", "profile_version")},
                **({} if difference is None else {"difference": difference.mean}),
                **({} if difference is None else {"low": difference.low, "high": difference.high}),
            }
            event = self._events.prepare("EvaluationRan", payload, record_id=given.id)
            answer = self._db.rpc(
                "desk_add_evaluation", {"p_row": row, "p_event": event.row()}, read=False, returns=dict
            )
            if answer["added"]:
                self._events.announce(event)
            made.append(self.get(str(row["id"])))
        return tuple(made)

    def _job(self, run: JobRun) -> Mapping[str, Any]:
        plan = plan_of(run.params)
        # Ids that follow from the job's: taken up again after a crash, it makes no second evaluation.
        ids = [str(uuid.uuid5(uuid.UUID(run.job.id), str(n))) for n in range(len(plan.profiles))]
        made = self.run(plan, ids=ids, progress=lambda done, total: run.progress(done, total), check=run.check)
        return {"evaluations": [one.id for one in made], "verdicts": [one.verdict for one in made]}


def _evaluation(row: Mapping[str, Any]) -> Evaluation:
    result = row.get("result")
    more = {} if result is None else {"names": result.get("names"), "primary": result.get("primary")}
    return Evaluation(**{**{n: row[n] for n in Evaluation.__dataclass_fields__ if n in row}, **more})
