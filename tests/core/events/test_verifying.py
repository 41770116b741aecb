"""The chain in slices, against the embedded Supabase."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest

from core.events.verifying import verify_chain

if TYPE_CHECKING:
    from core.bootstrap import Core


@pytest.fixture
def filled(core: Core) -> Core:
    for n in range(12):
        core.events.emit("SearchPerformed", {"dialog_key": f"k{n}", "results": n}, record_id=f"k{n}")
    assert core.events.flush()
    return core


@pytest.mark.parametrize("size", [1, 2, 5, 11, 12, 13, 1000])
def test_any_slice_gives_the_same(filled: Core, size: int) -> None:
    """Each event is checked once, and progress reaches the end."""
    told: list[tuple[int, int]] = []
    found = verify_chain(filled.events.store, lambda *at: told.append(at), size=size)
    assert (found.ok, found.checked) == (True, 12) and told[-1] == (12, 12)


@pytest.mark.parametrize("size", [1, 3, 4, 1000])
@pytest.mark.parametrize(
    ("damage", "seq", "reason", "there"),
    [
        ("update companion_events set payload = '{\"results\": 99}' where seq = 7", 7, "edited", True),
        ('update companion_events set actor = actor || \'{"display_name": "x"}\' where seq = 4', 4, "edited", True),
        ("delete from companion_events where seq = 8", 8, "missing", False),
        ("delete from companion_events where seq = 12", 12, "missing", False),
        (
            "update companion_events set seq = 100 where seq = 5; update companion_events set seq = 5 where seq = 6;"
            "update companion_events set seq = 6 where seq = 100",
            5,
            "edited",
            True,
        ),
    ],
)
def test_damage_is_named(filled: Core, dsn: str, size: int, damage: str, seq: int, reason: str, there: bool) -> None:
    """Which row, and what became of it, wherever a slice ends."""
    with psycopg.connect(dsn) as connection:
        connection.execute(damage)
    found = verify_chain(filled.events.store, size=size)
    assert (found.ok, found.bad_seq, found.reason) == (False, seq, reason)
    assert (found.bad_event is not None) is there
    if found.bad_event is not None:
        assert found.bad_event.seq == seq


def test_pruned_events_leave_a_chain_that_holds(filled: Core, dsn: str) -> None:
    """In slices that end before, within and after the gap."""
    with psycopg.connect(dsn) as connection:
        connection.execute("select companion_prune_events(90, 3, 400)")
    for size in (1, 2, 3, 50):
        found = verify_chain(filled.events.store, size=size)
        assert (found.ok, found.checked) == (True, 3)


def test_an_empty_log_holds(core: Core) -> None:
    """Nothing to check is not a fault."""
    core.events.flush()
    assert verify_chain(core.events.store).ok
