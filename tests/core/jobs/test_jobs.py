"""Starting, doing, stopping and taking up jobs, with several processes and a clock that moves."""

from __future__ import annotations

import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.errors import DatabaseUnavailable, Forbidden, InputError, NotFound
from core.events.actor import ai, current_actor, run_as, user
from core.jobs.job import Job, JobRunning
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun
from tests.core.jobs.conftest import until
from tests.support.acting import as_operator

MakeJobs = Callable[..., Jobs]


def ended(jobs: Jobs, job: Job) -> Job:
    return until(lambda: (now := jobs.get(job.id)).live is False and now)


def test_a_job_runs_to_its_end_and_says_so(make_jobs: MakeJobs) -> None:
    """Started in one process, done by its thread, with progress, result and moments."""
    jobs = make_jobs()
    jobs.work()
    done = ended(jobs, jobs.start("count", {"steps": 3}))
    assert (done.state, done.done, done.total, done.result) == ("done", 3, 3, {"steps": 3})
    assert done.started_at and done.finished_at and done.created_at
    assert done.created_at <= done.started_at <= done.finished_at
    assert done.fraction == 1.0 and done.remaining_s is None


def test_the_same_form_twice_is_one_job(make_jobs: MakeJobs) -> None:
    """The id was made when the form was drawn: a double click finds the job of the first."""
    jobs, id = make_jobs(), str(uuid.uuid4())
    assert {jobs.start("count", {"steps": 1}, key="k", id=id).id for _ in range(3)} == {id}
    assert jobs.list().total == 1


def test_the_same_thing_from_two_tabs_names_the_one_that_runs(make_jobs: MakeJobs) -> None:
    """One key, one live job; after its end the key is free again."""
    jobs = make_jobs()
    first = jobs.start("count", {"steps": 1}, key="k")
    with pytest.raises(JobRunning) as refused:
        make_jobs().start("count", {"steps": 1}, key="k")
    assert refused.value.job.id == first.id and refused.value.status == 409
    assert jobs.finish_here(first.id).state == "done"
    assert jobs.start("count", {"steps": 1}, key="k").id != first.id


def test_eight_starts_at_once_are_one_job(make_jobs: MakeJobs) -> None:
    """No race between the look and the insert."""
    jobs = make_jobs()
    outcomes: list[str] = []

    def press() -> None:
        try:
            outcomes.append(jobs.start("count", {"steps": 1}, key="k").id)
        except JobRunning as busy:
            outcomes.append(busy.job.id)

    threads = [threading.Thread(target=as_operator(press)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == 8 and len(set(outcomes)) == 1
    assert jobs.list().total == 1


def test_killed_in_the_middle_another_process_goes_on(
    make_jobs: MakeJobs, other_process: Callable[[], subprocess.Popen[bytes]]
) -> None:
    """kill -9: once the lease is over another process goes on behind the last saved step, and ends it once."""
    jobs = make_jobs()
    job = jobs.start("count", {"steps": 30, "pause_s": 0.1})
    process = other_process()
    until(lambda: jobs.get(job.id).done >= 3)
    process.kill()
    process.wait()
    broken_off = jobs.get(job.id)
    assert broken_off.state == "running" and broken_off.cursor["step"] < 30
    until(lambda: jobs.get(job.id).free)
    assert jobs.get(job.id).remaining_s is None, "nobody works on it: nothing is left to estimate"
    done = make_jobs().finish_here(job.id)
    assert (done.state, done.done, done.result) == ("done", 30, {"steps": 30})
    assert done.claimed_done >= broken_off.cursor["step"], "it went on, and did not begin again"


def test_two_processes_one_job(make_jobs: MakeJobs) -> None:
    """Of many that ask at once one gets it."""
    first, second = make_jobs(), make_jobs()
    job = first.start("count", {"steps": 5, "pause_s": 0.05})
    taken: list[Job | None] = []
    threads = [threading.Thread(target=lambda j=j: taken.append(j._worker.run_one())) for j in (first, second) * 3]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [t.id for t in taken if t] == [job.id]
    assert first.get(job.id).attempts == 0, "saved progress takes the count of claims back"


def test_cancel_stops_between_two_steps(make_jobs: MakeJobs) -> None:
    """What was done stays told; the second cancel changes nothing."""
    jobs = make_jobs()
    jobs.work()
    job = jobs.start("count", {"steps": 1000, "pause_s": 0.05})
    until(lambda: jobs.get(job.id).done >= 2)
    assert jobs.cancel(job.id).state == "cancelling"
    stopped = ended(jobs, job)
    assert stopped.state == "cancelled" and 2 <= stopped.done < 1000
    assert stopped.result == {"steps": stopped.done}
    assert jobs.cancel(job.id).state == "cancelled"


def test_cancel_of_a_job_that_nobody_has_taken_ends_it_at_once(make_jobs: MakeJobs) -> None:
    """Queued, or left by a dead process: there is nobody to wait for."""
    jobs = make_jobs()
    assert jobs.cancel(jobs.start("count", {"steps": 1}).id).state == "cancelled"
    with pytest.raises(NotFound):
        jobs.cancel(str(uuid.uuid4()))
    with pytest.raises(NotFound):
        jobs.get("no id")


def test_a_process_that_ends_puts_its_job_back(make_jobs: MakeJobs) -> None:
    """Another one need not wait for the lease."""
    first, second = make_jobs(), make_jobs()
    first.work()
    job = first.start("count", {"steps": 40, "pause_s": 0.05})
    until(lambda: first.get(job.id).done >= 2)
    first.close()
    assert second.get(job.id).state == "queued"
    assert second.finish_here(job.id).result == {"steps": 40}


def test_a_step_longer_than_the_lease_keeps_it(make_jobs: MakeJobs) -> None:
    """The heart beats beside the work."""
    jobs, other = make_jobs(), make_jobs()
    jobs.work()
    job = jobs.start("count", {"steps": 1, "pause_s": 4})
    until(lambda: jobs.get(job.id).state == "running")
    time.sleep(3)
    assert other._worker.run_one() is None
    assert ended(jobs, job).state == "done"


@pytest.mark.parametrize("moved", ["1 hour", "-1 hour"])
def test_a_clock_that_was_moved(make_jobs: MakeJobs, dsn: str, moved: str) -> None:
    """Set forward, the lease looks over; set back, it looks endless. Either way a dead job is taken up, and a live one
    whose claim was taken away writes nothing any more."""
    jobs = make_jobs()
    job = jobs.start("count", {"steps": 3})
    claimed = jobs._store.claim("dead", ["count"], "", 30)
    assert claimed is not None
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute(
            "update desk_jobs set lease_until = lease_until - %(m)s::interval, heartbeat = heartbeat - %(m)s::interval",
            {"m": moved},
        )
    assert jobs.finish_here(job.id).state == "done"
    from core.jobs.store import Progress

    assert jobs._store.beat(job.id, "dead", 30, Progress(99)) == (False, "done")
    assert jobs._store.finish(job.id, "dead", "failed", Progress(99)) is None
    assert jobs.get(job.id).done == 3


def test_one_that_lost_its_job_stops(make_jobs: MakeJobs, dsn: str) -> None:
    """Asleep for longer than the lease: the other one's run counts, and the work goes on in one place only."""
    ran: list[str] = []

    def sleepy(run: JobRun) -> Mapping[str, Any]:
        ran.append("began")
        with psycopg.connect(dsn, autocommit=True) as direct:
            direct.execute("update desk_jobs set lease_owner = 'another'")
        run.save({"step": 1})
        ran.append("went on")
        return {}

    jobs = make_jobs(sleepy=sleepy)
    job = jobs.start("sleepy", {})
    assert jobs._worker.run_one() is None
    assert ran == ["began"] and jobs.get(job.id).state == "running"


def test_a_failure_worth_a_retry_is_tried_again_and_then_given_up(make_jobs: MakeJobs, dsn: str) -> None:
    """With a pause that grows; other failures end the job at once, with their code."""
    tries: list[int] = []

    def away(run: JobRun) -> Mapping[str, Any]:
        tries.append(run.attempts)
        raise DatabaseUnavailable("Can't reach it.", hint="secret words of Postgres")

    def bad(run: JobRun) -> Mapping[str, Any]:
        raise InputError("The file is gone.", field="file", hint="Upload it again.")

    def bug(run: JobRun) -> Mapping[str, Any]:
        raise KeyError("the text of a dialog")

    jobs = make_jobs(away=away, bad=bad, bug=bug)
    job = jobs.start("away", {})
    for _ in range(5):
        jobs._worker.run_one()
        assert jobs._worker.run_one() is None, "not before the pause is over"
        with psycopg.connect(dsn, autocommit=True) as direct:
            direct.execute("update desk_jobs set lease_until = now() - interval '1 second'")
    assert tries == [1, 2, 3, 4, 5]
    failed = jobs.get(job.id)
    assert failed.state == "failed" and failed.error == {"code": "database_unavailable", "what": "Can't reach it."}
    assert jobs.finish_here(jobs.start("bad", {}).id).error == {
        "code": "bad_input",
        "what": "The file is gone.",
        "hint": "Upload it again.",
        "field": "file",
    }
    assert jobs.finish_here(jobs.start("bug", {}).id).error == {"code": "internal", "class": "KeyError"}


def test_what_ends_every_process_is_given_up(make_jobs: MakeJobs, dsn: str) -> None:
    """Five claims without a step, and it is not taken again."""
    jobs = make_jobs()
    job = jobs.start("count", {"steps": 1})
    for number in range(5):
        assert jobs._store.claim(f"dies{number}", ["count"], "", 1)
        with psycopg.connect(dsn, autocommit=True) as direct:
            direct.execute("update desk_jobs set lease_until = now() - interval '1 second'")
    assert jobs._worker.run_one() is None
    assert jobs.get(job.id).error == {"code": "gave_up", "attempts": 5}


def test_the_work_is_done_as_the_one_who_asked(make_jobs: MakeJobs) -> None:
    """The actor is kept in the row; an AI may start nothing."""
    seen: list[Any] = []
    jobs = make_jobs(who=lambda run: seen.append(current_actor()) or {})
    with run_as(user("anna", "Anna", ("operator",))):
        job = jobs.start("who", {})
    assert jobs.finish_here(job.id).state == "done"
    assert [actor.principal_id for actor in seen] == ["anna"]
    with run_as(ai("m", "M", mission_id="1", iteration_id="1", rationale="r")), pytest.raises(Forbidden):
        jobs.start("who", {})


def test_a_job_that_needs_files_is_done_where_they_lie(make_jobs: MakeJobs, tmp_path: Path) -> None:
    """A process of another data folder does not take it."""
    here, elsewhere = make_jobs(), make_jobs(tmp_path / "elsewhere")
    for jobs in (here, elsewhere):
        jobs.register("files", lambda run: {}, action="jobs", title="Files", local=True)
    job = here.start("files", {})
    assert elsewhere._worker.run_one() is None
    assert here.finish_here(job.id).state == "done"


def test_the_end_is_told_once_however_it_comes(make_jobs: MakeJobs) -> None:
    """Done, failed, cancelled: the kind may clear up, and a fault of that harms nothing."""
    ends: list[str] = []

    def note(job: Job) -> None:
        ends.append(job.state)
        raise RuntimeError("cannot clear up")

    jobs = make_jobs()
    jobs.register("noted", lambda run: {}, action="jobs", title="Noted", ended=note)
    jobs.finish_here(jobs.start("noted", {}).id)
    jobs.cancel(jobs.start("noted", {}).id)
    assert ends == ["done", "cancelled"]


def test_events_of_a_job(make_jobs: MakeJobs) -> None:
    """Who started it and how it ended stand in the record of events, with the actor of the job."""
    jobs = make_jobs()
    with run_as(user("anna", "Anna", ("operator",))):
        job = jobs.start("count", {"steps": 1})
    jobs.finish_here(job.id)
    assert jobs._events.flush()
    found = {e.type: e for e in jobs._events.store.query(record_id=job.id).rows}
    assert set(found) == {"JobStarted", "JobEnded"}
    assert {e.actor.principal_id for e in found.values()} == {"anna"}
    assert found["JobEnded"].payload["state"] == "done"
