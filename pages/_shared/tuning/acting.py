"""What the Tuning page changes about labels and evaluations; each acts once through core, as the one who is here."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from core.events import run_as
from core.jobs.job import Job
from core.tuning.evaluations import Evaluation
from core.tuning.fit import Fit, Heat
from core.tuning.label_store import Added, Imported
from core.tuning.plan import Plan
from pages._shared import session
from pages._shared.operations import acting as jobs
from pages._shared.resources import core
from pages._shared.tuning import reading

T = TypeVar("T")


def create(name: str, note: str, form: str) -> str:
    return _as_actor(lambda: core().tuning.labels.create(name, note, id=form))


def archive(id: str, archived: bool) -> bool:
    return _as_actor(lambda: core().tuning.labels.archive(id, archived=archived))


def add(id: str, rows: Sequence[Mapping[str, Any]]) -> Added:
    return _as_actor(lambda: core().tuning.labels.add_rows(id, rows))


def remove(query_id: str) -> bool:
    return _as_actor(lambda: core().tuning.labels.remove(query_id))


def judge(query_id: str, chunk_ids: Sequence[str], grade: int, why: str) -> int:
    return _as_actor(lambda: core().tuning.labels.judge(query_id, chunk_ids, grade, why=why))


def import_file(text: str, name: str, query_set: str | None, llm: bool) -> Imported:
    return _as_actor(lambda: core().tuning.files.import_text(text, query_set=query_set, name=name, llm=llm))


def export(id: str, form: str, llm: bool, revealed: bool) -> tuple[bytes, int]:
    """A set as a file, masked unless the page is revealed, and its lines; made when somebody clicks."""
    text = core().tuning.files.export(id, form, llm=llm, cover=None if revealed else core().veil.cover)
    return text.encode(), text.count("\n")


def evaluate(plan: Plan, form: str) -> tuple[Evaluation, ...] | Job:
    done = _as_actor(lambda: core().tuning.evaluations.start(plan, id=form))
    if isinstance(done, Job):
        jobs.watch(done.id)
    return done


def search_boosts(plan: Plan, axes: Sequence[str], form: str) -> Fit | Job:
    done = _as_actor(lambda: core().tuning.boosts.start(plan, axes, id=form))
    if isinstance(done, Job):
        jobs.watch(done.id)
    return done


def heat(plan: Plan, x: str, y: str, progress: Callable[[int, int], None]) -> Heat:
    with run_as(session.actor()):
        return core().tuning.boosts.heat(plan, x, y, progress=progress)


def _as_actor(act: Callable[[], T]) -> T:
    try:
        with run_as(session.actor()):
            return act()
    finally:
        reading.forget()
