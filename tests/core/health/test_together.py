"""Questions asked at once: the slow do not hold up the quick."""

from __future__ import annotations

import threading
import time

from core.health.together import ask_together


def test_one_that_hangs_costs_the_deadline_and_nothing_else() -> None:
    """The others are answered, with their errors kept apart; the hanging one has no answer."""
    hang = threading.Event()

    def broken() -> None:
        raise KeyError("x")

    began = time.monotonic()
    outcomes = ask_together({"quick": lambda: 1, "hangs": lambda: hang.wait(10), "broken": broken}, 0.2)
    assert 0.15 < time.monotonic() - began < 1.0
    assert (outcomes["quick"].answered, outcomes["quick"].value) == (True, 1)
    assert isinstance(outcomes["broken"].error, KeyError)
    assert not outcomes["hangs"].answered
    hang.set()


def test_they_run_side_by_side() -> None:
    """Five questions of 0.2 s take about 0.2 s."""
    began = time.monotonic()
    outcomes = ask_together({f"q{n}": lambda: time.sleep(0.2) for n in range(5)}, 5)
    assert time.monotonic() - began < 0.8
    assert all(o.answered and o.latency_ms >= 190 for o in outcomes.values())
