"""Token buckets under a clock that stands still until it is told to go on."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.api.limits import Buckets


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def test_a_full_bucket_gives_its_burst_and_then_says_how_long(clock: FakeClock) -> None:
    """Sixty a minute is one a second: after three at once the fourth waits a second, and passes after it."""
    buckets = Buckets(60, 3, clock=clock)
    assert [buckets.take("ann") for _ in range(4)] == [0.0, 0.0, 0.0, pytest.approx(1.0)]
    clock.now += 0.5
    assert buckets.take("ann") == pytest.approx(0.5)
    clock.now += 0.5
    assert buckets.take("ann") == 0.0


def test_names_do_not_share(clock: FakeClock) -> None:
    """One caller's haste costs no other."""
    buckets = Buckets(60, 1, clock=clock)
    assert buckets.take("ann") == 0.0
    assert buckets.take("ann") > 0
    assert buckets.take("ben") == 0.0


def test_asking_takes_nothing(clock: FakeClock) -> None:
    """`wait` answers what `take` would."""
    buckets = Buckets(60, 1, clock=clock)
    assert buckets.wait("ann") == buckets.wait("ann") == 0.0
    buckets.take("ann")
    assert buckets.wait("ann") == pytest.approx(1.0)


def test_a_cost_above_the_burst_passes_once_and_is_paid_off(clock: FakeClock) -> None:
    """It could never pass otherwise; the next one waits for the whole debt."""
    buckets = Buckets(60, 10, clock=clock)
    assert buckets.take("ann", 25) == 0.0
    assert buckets.take("ann", 1) == pytest.approx(16.0)


def test_nothing_is_limited_at_zero(clock: FakeClock) -> None:
    """0 a minute means no limit, not no request."""
    buckets = Buckets(0, 1, clock=clock)
    assert {buckets.take("ann") for _ in range(100)} == {0.0}


def test_only_so_many_names_are_remembered(clock: FakeClock) -> None:
    """A caller who invents names fills no memory; the oldest name is forgotten and starts full."""
    buckets = Buckets(60, 1, size=2, clock=clock)
    for name in ("ann", "ben", "cyd"):
        buckets.take(name)
    assert buckets.wait("cyd") > 0
    assert buckets.wait("ann") == 0.0


@given(st.lists(st.floats(0, 5), min_size=1, max_size=80))
def test_never_more_than_burst_and_rate(pauses: list[float]) -> None:
    """Whatever the pauses, what passed is at most the burst and what the time has filled in."""
    clock = FakeClock()
    buckets, passed = Buckets(120, 5, clock=clock), 0
    for pause in pauses:
        clock.now += pause
        passed += buckets.take("ann") == 0.0
    assert passed <= 5 + 2 * sum(pauses) + 1e-6
