"""Room for one more job, or a refusal that says why."""

from __future__ import annotations

import pytest

from core.events.actor import LOCAL_OPERATOR, system, user
from core.jobs.job import Job
from core.jobs.jobs import Jobs
from core.jobs.queue import EACH, OVERALL, QueueFull, check_room

ANN, BEN = user("oidc:ann", "Ann"), user("oidc:ben", "Ben")


def jobs_of(who: str, count: int) -> list[Job]:
    return [Job(f"{who} {n}", "count", "queued", actor={"principal_id": who}) for n in range(count)]


def test_one_person_may_fill_their_part_and_no_more() -> None:
    """Others go on."""
    check_room(jobs_of("oidc:ann", EACH - 1), ANN)
    full = jobs_of("oidc:ann", EACH)
    with pytest.raises(QueueFull) as refused:
        check_room(full, ANN)
    assert refused.value.status == 429 and f"You have {EACH}" in refused.value.what
    check_room(full, BEN)


def test_everybody_together_has_an_end_too() -> None:
    """Nobody has many, and yet there are too many."""
    everybody = [job for n in range(OVERALL) for job in jobs_of(f"oidc:{n}", 1)]
    with pytest.raises(QueueFull):
        check_room(everybody, ANN)
    check_room(everybody[1:], ANN)


def test_the_second_press_finds_the_job_of_the_first() -> None:
    """It is no other job, so the queue may be as full as it likes."""
    full = jobs_of("oidc:ann", EACH)
    check_room(full, ANN, full[3].id)


def test_what_the_product_starts_itself_has_room() -> None:
    """Clean-up and the like are not kept out by people."""
    check_room(jobs_of("oidc:ann", OVERALL), system("bootstrap"))


def test_the_queue_is_looked_at_when_a_job_is_started(make_jobs: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against the database, and nothing is left behind by what was refused."""
    monkeypatch.setattr("core.jobs.queue.EACH", 2)
    jobs: Jobs = make_jobs()  # type: ignore[operator]
    for _ in range(2):
        jobs.start("count", {"steps": 1})
    with pytest.raises(QueueFull):
        jobs.start("count", {"steps": 1})
    assert jobs.list(live=True).total == 2
    assert jobs.list().rows[0].actor["principal_id"] == LOCAL_OPERATOR.principal_id
