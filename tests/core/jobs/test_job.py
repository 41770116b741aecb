"""What can be told from the row of a job: rate, remaining time, fraction."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.jobs.job import Job, job_of

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def job(**columns: object) -> Job:
    row = {"id": "1", "kind": "k", "state": "running", "claimed_at": AT, "heartbeat": AT + timedelta(seconds=10)}
    return job_of({**row, "unknown_column": 1, **columns})


def test_the_rate_counts_from_where_this_process_took_it() -> None:
    """40 of 100 before, 20 since, in ten seconds: two a second, twenty seconds left."""
    found = job(done=60, total=100, claimed_done=40)
    assert (found.rate_per_s, found.remaining_s, found.fraction) == (2.0, 20.0, 0.6)


@pytest.mark.parametrize(
    "columns",
    [
        {"done": 0, "total": 100},
        {"done": 40, "total": 100, "claimed_done": 40},
        {"done": 5, "total": 0},
        {"done": 5, "total": 10, "state": "queued"},
        {"done": 5, "total": 10, "free": True},
        {"done": 5, "total": 10, "claimed_at": None},
        {"done": 5, "total": 10, "heartbeat": AT - timedelta(seconds=1)},
    ],
)
def test_no_estimate_without_a_ground_for_it(columns: dict[str, object]) -> None:
    """Nothing done yet, no total, not running, a clock that was set back: nothing is made up."""
    assert job(**columns).remaining_s is None


def test_more_done_than_expected_is_no_more_than_all() -> None:
    """The total was a count of before."""
    found = job(done=120, total=100)
    assert found.fraction == 1.0 and found.remaining_s == 0


def test_moments_are_read_and_a_state_that_does_not_exist_is_refused() -> None:
    """ISO texts of the database become instants."""
    assert job(created_at="2026-11-30T12:00:00+00:00").created_at == AT
    with pytest.raises(ValueError):
        job(state="asleep")
