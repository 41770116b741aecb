"""How the result of a job is put into words."""

from __future__ import annotations

from core.jobs.job import Job
from pages._shared.operations.jobs import duration
from pages._shared.operations.results import counts_of, words_of


def test_an_error_in_words() -> None:
    """What happened and what to do; for a code that carries no words, ours; else the code itself."""
    assert words_of({"code": "bad_input", "what": "Gone.", "hint": "Upload it again."}) == "Gone. Upload it again."
    assert words_of({"code": "missing_identity", "message": "ruId is missing."}) == "ruId is missing."
    assert "five times" in words_of({"code": "gave_up", "attempts": 5})
    assert words_of({"code": "new_code"}) == "new_code"


def test_counts_come_in_the_order_of_the_work() -> None:
    """jsonb sorts keys by length; what is no number is left out."""
    job = Job("1", "k", "done", result={"added": 1, "dialogs": 2, "by_type": {"note": 1}, "rate_per_s": 2.5})
    assert list(counts_of(job).items()) == [("dialogs", 2), ("added", 1), ("rate_per_s", 2.5)]
    assert counts_of(Job("1", "k", "queued")) == {}


def test_durations() -> None:
    """Seconds, minutes, hours; never nothing."""
    assert [duration(s) for s in (0.2, 45, 600, 9000)] == ["1 s", "45 s", "10 min", "2.5 h"]
