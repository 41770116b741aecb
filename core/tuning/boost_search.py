"""Looking for better boosts on a query set: a map of two axes, a search with dialogs kept out. See fit.py."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from core.access.roles import permit
from core.errors import InputError
from core.events.emitter import Events
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun
from core.memory.retrieval import Profile
from core.memory.sources import SOURCES
from core.tuning import fit as fitting
from core.tuning.evaluations import AT_ONCE, Evaluations
from core.tuning.fit import FUSION, Fit, Heat
from core.tuning.fits import Fits
from core.tuning.plan import Plan, params_of, plan_of
from core.tuning.resample import Interval

KIND = "search_boosts"
Progress = Callable[[int, int], None]


class BoostSearch:
    """Thread-safe; one per process. A `Plan` names set, metric, k and labels; its baseline is where the search starts.

    Errors of every call: Forbidden, NotFound, InputError, DatabaseError, and those of the embedder.
    """

    def __init__(self, evaluations: Evaluations, fits: Fits, events: Events, jobs: Jobs) -> None:
        self._evaluations = evaluations
        self._fits = fits
        self._events = events
        self._jobs = jobs
        jobs.register(KIND, self._job, action="evaluate", title="Search for better boosts")

    def heat(self, plan: Plan, x: str, y: str, *, progress: Progress | None = None) -> Heat:
        """The metric over two axes, everything else as in the baseline, on all queries of the set."""
        permit("evaluate")
        _, pool = self._evaluations.pool(plan.query_set, llm=plan.llm, progress=progress)
        return fitting.heat(pool, plan.baseline, x, y, plan.metric, plan.k)

    def start(self, plan: Plan, axes: Sequence[str], *, id: str | None = None) -> Fit | Job:
        """What was found where it took a moment, else the job that looks; `fit_of(job.result)` is its answer."""
        permit("evaluate")
        _check(axes)
        if self._evaluations.waiting(plan.query_set) <= AT_ONCE:
            return self.run(plan, axes)
        params = {**params_of(plan), "axes": [*axes]}
        return self._jobs.start(KIND, params, key=f"{KIND}:{plan.query_set}", id=id)

    def run(
        self,
        plan: Plan,
        axes: Sequence[str],
        *,
        id: str | None = None,
        progress: Progress | None = None,
        check: Callable[[], None] | None = None,
    ) -> Fit:
        """Coordinate search on half of the dialogs, tested on the others, with its event.

        What is better than the baseline is kept, under `id`, with the queries that decided.
        """
        permit("evaluate")
        _check(axes)
        began = time.perf_counter()
        given, pool = self._evaluations.pool(plan.query_set, llm=plan.llm, progress=progress, check=check)
        found = fitting.search(pool, plan.baseline, axes, plan.metric, plan.k, check=check)
        payload = {
            "query_set": given.id,
            "query_set_version": given.version,
            "metric": f"{plan.metric}:{plan.k}",
            "queries": found.train_queries + found.held_out_queries,
            "vectors": found.tried,
            "train": None if found.train is None else found.train.mean,
            "held_out": None if found.held_out is None else found.held_out.mean,
            "llm": plan.llm,
            "duration_ms": (time.perf_counter() - began) * 1000,
        }
        if found.profile.as_json() == plan.baseline.as_json():
            self._events.emit("GridSearched", payload, record_id=given.id)
            return found
        event = self._events.prepare("GridSearched", payload, record_id=given.id)
        found = replace(found, id=id or str(uuid.uuid4()))
        of = {"query_set": given.id, "query_set_version": given.version, "metric": f"{plan.metric}:{plan.k}"}
        if self._fits.add(str(found.id), found, of, self._fits.of(given.id, plan.baseline), event):
            self._events.announce(event)
        return found

    def _job(self, run: JobRun) -> Mapping[str, Any]:
        axes = run.params["axes"]
        found = self.run(plan_of(run.params), axes, id=run.job.id, progress=run.progress, check=run.check)
        return as_json(found)


def as_json(found: Fit) -> dict[str, Any]:
    """Figures alone, as the result of a job holds them."""
    return {
        "profile": found.profile.as_json(),
        "name": found.profile.name,
        "train": None if found.train is None else asdict(found.train),
        "held_out": None if found.held_out is None else asdict(found.held_out),
        "train_queries": found.train_queries,
        "held_out_queries": found.held_out_queries,
        "tried": found.tried,
        "id": found.id,
    }


def fit_of(row: Mapping[str, Any]) -> Fit:
    """The opposite of `as_json`."""
    return Fit(
        Profile.from_json(row["profile"], name=row["name"]),
        Interval(**row["train"]) if row["train"] else None,
        Interval(**row["held_out"]) if row["held_out"] else None,
        int(row["train_queries"]),
        int(row["held_out_queries"]),
        int(row["tried"]),
        row.get("id"),
    )


def _check(axes: Sequence[str]) -> None:
    if not axes or any(axis not in (*SOURCES, FUSION) for axis in axes):
        raise InputError("Choose at least one axis: a source, or fusion.", field="axes")
