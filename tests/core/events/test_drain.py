"""Emptying the spool: patient with a database that is away, firm with rows that it will never take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from core.db.failures import refuses_values
from core.errors import DatabaseError, DatabaseUnavailable
from core.events import drain as module
from core.events.drain import Drain
from core.events.spool import Record, Spool


class Table:
    """A stand-in for the table: idempotent by id, away on demand, and it refuses negative numbers."""

    def __init__(self) -> None:
        self.rows: dict[str, int] = {}
        self.order: list[int] = []
        self.calls: list[int] = []
        self.away = False

    def send(self, records: Sequence[Record]) -> None:
        self.calls.append(len(records))
        if self.away:
            raise DatabaseUnavailable("away", detail="ConnectError")
        if any(r.body["n"] < 0 for r in records):
            raise DatabaseError("refused", detail="23514 check")
        for r in records:
            if r.id not in self.rows:
                self.order.append(r.body["n"])
            self.rows[r.id] = r.body["n"]


def _fill(spool: Spool, numbers: Sequence[int], kind: str = "event") -> None:
    for n in numbers:
        spool.append(Record(kind, f"id-{n}", {"n": n}))


def _eventually(condition: Callable[[], bool], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.01)
    return condition()


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def test_flush_writes_everything_in_order_and_in_batches(spool: Spool) -> None:
    """450 records are three requests, and no file stays behind."""
    table = Table()
    _fill(spool, range(450))
    assert Drain(spool, {"event": table.send}, refuses_values).flush(5)
    assert table.order == list(range(450))
    assert table.calls == [200, 200, 50]
    assert spool.depth().waiting == 0


def test_a_database_that_is_away_keeps_the_records(spool: Spool) -> None:
    """Nothing is lost or doubled over the failure; what failed and since when is known meanwhile."""
    table = Table()
    table.away = True
    drain = Drain(spool, {"event": table.send}, refuses_values)
    _fill(spool, range(3))
    assert not drain.flush(5)
    assert drain.last_error is not None and drain.failing_since is not None
    _fill(spool, range(3, 5))
    table.away = False
    assert drain.flush(5)
    assert table.order == [0, 1, 2, 3, 4]
    assert drain.last_error is None and drain.failing_since is None


def test_rows_that_are_refused_for_good_do_not_block_the_others(spool: Spool) -> None:
    """They are set aside one by one, and the rest arrives in order."""
    table = Table()
    _fill(spool, [1, 2, -3, 4, -5, 6])
    assert Drain(spool, {"event": table.send}, refuses_values).flush(5)
    assert table.order == [1, 2, 4, 6]
    assert (spool.depth().waiting, spool.depth().refused) == (0, 2)


def test_a_kind_without_a_sender_stays(spool: Spool) -> None:
    """Usage rows wait for the part that writes them."""
    _fill(spool, [1], "usage")
    assert Drain(spool, {"event": Table().send}, refuses_values).flush(5)
    assert spool.depth().waiting == 1


def test_one_kind_that_fails_does_not_hold_up_another(spool: Spool) -> None:
    """Each has its own way in."""
    events, usage = Table(), Table()
    events.away = True
    _fill(spool, [1])
    _fill(spool, [2], "usage")
    assert not Drain(spool, {"event": events.send, "usage": usage.send}, refuses_values).flush(5)
    assert usage.order == [2]


def test_the_thread_writes_soon_after_it_is_woken(spool: Spool) -> None:
    """A burst becomes few requests."""
    table = Table()
    drain = Drain(spool, {"event": table.send}, refuses_values)
    for n in range(20):
        _fill(spool, [n])
        drain.wake()
    assert _eventually(lambda: len(table.rows) == 20)
    assert len(table.calls) <= 3
    assert drain.close(5)


def test_the_thread_tries_again_by_itself(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody needs to emit anything for the backlog to go out, and the pauses grow."""
    monkeypatch.setattr(module, "SETTLE_S", 0.01)
    table = Table()
    table.away = True
    _fill(spool, [1])
    drain = Drain(spool, {"event": table.send}, refuses_values)
    drain._pause_s = 0.05
    drain.start()
    assert _eventually(lambda: len(table.calls) >= 3)
    assert drain._pause_s > 0.1
    table.away = False
    assert _eventually(lambda: table.order == [1])
    assert drain.close(5)


def test_emitting_does_not_hurry_a_database_that_is_away(spool: Spool, monkeypatch: pytest.MonkeyPatch) -> None:
    """During a pause, new records only wait."""
    monkeypatch.setattr(module, "SETTLE_S", 0.01)
    table = Table()
    table.away = True
    drain = Drain(spool, {"event": table.send}, refuses_values)
    drain._pause_s = 5.0
    _fill(spool, [0])
    drain.start()
    assert _eventually(lambda: len(table.calls) == 1)
    for n in range(1, 10):
        _fill(spool, [n])
        drain.wake()
    time.sleep(0.2)
    assert len(table.calls) == 1
    table.away = False
    assert drain.close(5)
    assert table.order == list(range(10))


def test_close_tries_once_more_and_leaves_the_rest(spool: Spool, tmp_path: Path) -> None:
    """What is left is written by the next process."""
    table = Table()
    table.away = True
    drain = Drain(spool, {"event": table.send}, refuses_values)
    drain.start()
    _fill(spool, [1, 2])
    assert not drain.close(5)
    spool.close()
    table.away = False
    assert Drain(Spool(tmp_path / "spool"), {"event": table.send}, refuses_values).flush(5)
    assert table.order == [1, 2]


def test_records_that_the_disk_refused_are_written_too(spool: Spool) -> None:
    """They wait in memory, and return there when the database is away as well."""
    table = Table()
    table.away = True
    spool._memory.append(Record("event", "id-1", {"n": 1}))
    drain = Drain(spool, {"event": table.send}, refuses_values)
    assert not drain.flush(5)
    table.away = False
    assert drain.flush(5)
    assert table.order == [1]


def test_a_failure_of_another_kind_is_logged_and_tried_again(spool: Spool, caplog: pytest.LogCaptureFixture) -> None:
    """A bug in a sender neither kills the thread nor loses a record."""
    _fill(spool, [1])

    def broken(records: Sequence[Record]) -> None:
        raise KeyError("inserted")

    assert not Drain(spool, {"event": broken}, refuses_values).flush(5)
    assert spool.depth().waiting == 1
    assert "could not be emptied" in caplog.text


def test_flush_gives_up_waiting_for_a_drain_under_way(spool: Spool) -> None:
    """The deadline holds also when the background thread hangs in a request."""
    hang = threading.Event()
    _fill(spool, [1])
    drain = Drain(spool, {"event": lambda records: hang.wait(5) and None}, refuses_values)
    drain.start()
    assert _eventually(lambda: drain._work.locked())
    began = time.monotonic()
    assert not drain.flush(0.05)
    assert time.monotonic() - began < 1
    hang.set()
    drain.close(5)
