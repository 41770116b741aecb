"""When a change of state is believed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from core.health.report import Status
from core.health.settle import Change, Settled

AT = datetime(2026, 11, 30, 14, 0, tzinfo=UTC)


def _seen(*looks: Status, every_s: float = 60.0) -> tuple[list[Change], Settled]:
    settled = Settled()
    changes = []
    for n, status in enumerate(looks):
        change = settled.see("database", status, AT + timedelta(seconds=n * every_s))
        if change:
            changes.append(change)
    return changes, settled


def test_back_and_forth_never_settles() -> None:
    """An hour of turns, one a minute: nothing is announced."""
    changes, settled = _seen(*(["ok", "degraded"] * 30))  # type: ignore[arg-type]
    assert changes == [] and settled.unsettled


def test_a_lasting_change_is_told_once_with_its_beginning() -> None:
    """`since` is the first look at the new state, not the one that completed it."""
    changes, _ = _seen("ok", "degraded", "degraded", "degraded", "degraded", "degraded")
    assert changes == [Change("database", "degraded", "ok", AT + timedelta(seconds=60), AT)]


def test_down_is_believed_sooner() -> None:
    """Two looks, half a minute apart; one alone is not enough."""
    assert _seen("ok", "down", "ok", "ok")[0] == []
    assert [c.status for c in _seen("ok", "down", "down", every_s=30)[0]] == ["down"]
    assert _seen("ok", "down", "down", every_s=10)[0] == []


def test_many_looks_in_a_moment_prove_nothing() -> None:
    """A page that polls does not make a change last."""
    assert _seen("ok", *(["degraded"] * 20), every_s=1)[0] == []  # type: ignore[arg-type]


def test_no_answer_is_neither() -> None:
    """Unknown neither starts a change nor ends one that is under way."""
    assert _seen("ok", "unknown", "unknown", "unknown", "ok")[0] == []
    assert [c.status for c in _seen("ok", "degraded", "unknown", "degraded", "unknown", "degraded")[0]] == ["degraded"]


def test_what_an_earlier_process_settled() -> None:
    """A mark from before: a return to it is no news, another state is."""
    settled = Settled()
    settled.mark("database", "down", AT - timedelta(hours=1))
    for n in range(3):
        change = settled.see("database", "ok", AT + timedelta(minutes=n))
    assert change is not None
    assert (change.previous, change.previous_since) == ("down", AT - timedelta(hours=1))
