"""Small steps at their intervals, by one process at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psycopg
import pytest

from core.companion.tick import FIRST_S, Tick
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events.actor import current_actor, system
from core.local.server import Endpoint


class Time:
    def __init__(self) -> None:
        self.s = 0.0

    def __call__(self) -> float:
        return self.s


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


@pytest.fixture
def time() -> Time:
    return Time()


def test_not_at_once_and_then_at_its_interval(db: Database, time: Time) -> None:
    """The first page comes before the first step; what is done by each process for itself needs no lease."""
    tick = Tick(db, now=time)
    tick.register("look", 10, lambda: None, shared=False)
    ran = []
    for passed in (0, FIRST_S, 5, 5, 9):
        time.s += passed
        ran.append(tick.run_due())
    assert ran == [[], ["look"], [], ["look"], []]


def test_two_processes_take_turns(db: Database, time: Time) -> None:
    """Within its interval a step runs in one of them; while it runs the other does not begin."""
    here, there = Tick(db, now=time), Tick(db, now=time)
    ran: list[str] = []
    here.register("scan", 60, lambda: ran.extend(["here", *there.run_due()]))
    there.register("scan", 60, lambda: ran.append("there"))
    time.s += FIRST_S
    assert here.run_due() == ["scan"]
    time.s += 1
    assert there.run_due() == [] and ran == ["here"]


def test_a_process_that_died_is_replaced(db: Database, time: Time, dsn: str) -> None:
    """Once its lease is over, also where its clock was ahead."""
    tick = Tick(db, now=time)
    tick.register("scan", 60, lambda: None)
    lease = "insert into companion_leases values ('tick:scan', 'dead', now() + %s::interval, now() + %s::interval)"
    with psycopg.connect(dsn, autocommit=True) as connection:
        for until, last, ran in (
            ("1 hour", "-1 hour", []),
            ("-1 s", "-1 hour", ["scan"]),
            ("1 hour", "2 hours", ["scan"]),
        ):
            connection.execute("delete from companion_leases")
            connection.execute(lease, (until, last))
            time.s += 100
            assert tick.run_due() == ran


def test_a_step_that_fails_holds_up_no_other(db: Database, time: Time, dsn: str) -> None:
    """It gives its lease back and comes again; a database that is away is left alone for a while."""
    tick = Tick(db, now=time)
    broken = [0]

    def fails() -> None:
        broken[0] += 1
        raise RuntimeError("secret") if broken[0] == 1 else DatabaseUnavailable("away")

    tick.register("broken", 5, fails)
    tick.register("whole", 5, lambda: None)
    ran = []
    for passed in (FIRST_S, 5, 5, 25):
        time.s += passed
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("update companion_leases set last_at = last_at - interval '1 hour'")
        ran.append((tick.run_due(), broken[0]))
    assert ran == [(["whole"], 1), (["whole"], 2), (["whole"], 2), (["whole"], 3)]


def test_steps_run_as_the_system(db: Database, time: Time) -> None:
    """What they write is nobody's but its own."""
    tick = Tick(db, now=time)
    actors = []
    tick.register("look", 1, lambda: actors.append(current_actor()), shared=False)
    time.s += FIRST_S
    tick.run_due()
    assert actors == [system("projection")]


def test_one_thread_and_a_name_once(db: Database, time: Time) -> None:
    """Started twice it is one thread; it ends when closed, and is not started again."""
    tick = Tick(db, now=time)
    done = threading.Event()
    tick.register("look", 1, done.set, shared=False)
    with pytest.raises(ValueError, match="look"):
        tick.register("look", 1, lambda: None)
    time.s += FIRST_S
    tick.start()
    tick.start()
    assert done.wait(10)
    mine = [thread for thread in threading.enumerate() if thread is tick._thread]
    tick.close()
    tick.start()
    assert len(mine) == 1 and not mine[0].is_alive() and tick.stopping


def test_closed_while_it_starts(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """A start that another thread has begun is waited for, and its thread ends."""
    tick, begun, go = Tick(db), threading.Event(), threading.Event()
    start = threading.Thread.start

    def slowly(thread: threading.Thread) -> None:
        if thread.name == "companion tick":
            begun.set()
            assert go.wait(30)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", slowly)
    starter = threading.Thread(target=tick.start)
    starter.start()
    assert begun.wait(30)
    closer = threading.Thread(target=tick.close)
    closer.start()
    go.set()
    for thread in (starter, closer):
        thread.join(30)
        assert not thread.is_alive()
    assert not [thread for thread in threading.enumerate() if thread.name == "companion tick"]
