"""Delivery: in order, behind the emitter's back, guarded against going round for ever."""

from __future__ import annotations

import logging
import threading
import time
import uuid
from datetime import UTC, datetime

import pytest

from core.events.actor import current_actor, user
from core.events.bus import MAX_DEPTH, Bus
from core.events.event import Event, Meta

AT = datetime(2026, 11, 30, tzinfo=UTC)


def _event(kind: str, *, cause: str | None = None, n: int = 0) -> Event:
    return Event(kind, {"n": n}, Meta(str(uuid.uuid4()), AT, "memory", user("anna"), "observation", caused_by=cause))


@pytest.fixture
def bus() -> Bus:
    return Bus()


def test_a_typed_handler_gets_only_its_type(bus: Bus) -> None:
    """Case 1."""
    seen: list[str] = []
    bus.on("A", lambda e: seen.append(e.type))
    for kind in "ABA":
        bus.emit(_event(kind))
    assert bus.wait_idle(5)
    assert seen == ["A", "A"]


def test_an_any_handler_sees_all_after_the_typed(bus: Bus) -> None:
    """Case 2, and the order within one event."""
    seen: list[str] = []
    bus.on_any(lambda e: seen.append(f"any {e.type}"))
    bus.on("A", lambda e: seen.append("first"))
    bus.on("A", lambda e: seen.append("second"))
    bus.emit(_event("A"))
    bus.emit(_event("B"))
    assert bus.wait_idle(5)
    assert seen == ["first", "second", "any A", "any B"]


def test_unsubscribe_and_off_stop_delivery(bus: Bus) -> None:
    """Case 3; both may be called twice."""
    seen: list[str] = []

    def handler(event: Event) -> None:
        seen.append(event.type)

    stop_typed, stop_any = bus.on("A", handler), bus.on_any(handler)
    bus.emit(_event("A"))
    bus.wait_idle(5)
    for _ in range(2):
        stop_typed()
        stop_any()
        bus.off("A", handler)
        bus.off("never", handler)
    bus.emit(_event("A"))
    assert bus.wait_idle(5)
    assert seen == ["A", "A"]


def test_a_handler_that_raises_stops_nobody(bus: Bus, caplog: pytest.LogCaptureFixture) -> None:
    """Case 4: the next handler, the next event and the emitter go on; it is logged and counted."""
    seen: list[str] = []

    def broken(event: Event) -> None:
        raise RuntimeError("no")

    bus.on("A", broken)
    bus.on("A", lambda e: seen.append("next"))
    with caplog.at_level(logging.ERROR):
        assert bus.emit(_event("A"))
        assert bus.emit(_event("A"))
        assert bus.wait_idle(5)
    assert seen == ["next", "next"]
    assert bus.counters.handler_errors == 2
    assert "a handler of A failed" in caplog.text


def test_two_handlers_are_both_called_once_and_one_given_twice_once(bus: Bus) -> None:
    """Case 5, and EV-15."""
    seen: list[str] = []

    class Listener:
        def hear(self, event: Event) -> None:
            seen.append("method")

    listener = Listener()
    bus.on("A", listener.hear)
    bus.on("A", listener.hear)
    bus.on("A", lambda e: seen.append("other"))
    assert bus.handlers == 2
    bus.emit(_event("A"))
    assert bus.wait_idle(5)
    assert seen == ["method", "other"]


def test_the_same_type_from_its_own_handler_is_dropped_and_others_follow(
    bus: Bus, caplog: pytest.LogCaptureFixture
) -> None:
    """Case 6: with a warning and a counter; another type is delivered after."""
    seen: list[str] = []

    def again(event: Event) -> None:
        seen.append("A")
        assert not bus.emit(_event("A"))
        assert bus.emit(_event("B"))
        seen.append("after emit")

    bus.on("A", again)
    bus.on("B", lambda e: seen.append("B"))
    with caplog.at_level(logging.WARNING):
        bus.emit(_event("A"))
        assert bus.wait_idle(5)
    assert seen == ["A", "after emit", "B"]
    assert bus.counters.dropped_same_type == 1
    assert "dropped" in caplog.text


def test_the_same_type_from_elsewhere_during_a_dispatch_is_kept(bus: Bus) -> None:
    """The guard is for handlers alone: another thread's event of that type is no echo."""
    inside, go_on = threading.Event(), threading.Event()
    seen: list[int] = []

    def slow(event: Event) -> None:
        seen.append(event.payload["n"])
        inside.set()
        go_on.wait(5)

    bus.on("A", slow)
    bus.emit(_event("A", n=1))
    assert inside.wait(5)
    assert bus.emit(_event("A", n=2))
    go_on.set()
    assert bus.wait_idle(5)
    assert seen == [1, 2]


def test_a_chain_of_causes_ends(bus: Bus) -> None:
    """Two types that answer each other stop at depth 8 instead of filling the table."""
    seen: list[str] = []

    def answer(event: Event) -> None:
        seen.append(event.type)
        bus.emit(_event("B" if event.type == "A" else "A", cause=event.meta.id))

    bus.on("A", answer)
    bus.on("B", answer)
    bus.emit(_event("A"))
    assert bus.wait_idle(5)
    assert len(seen) == MAX_DEPTH + 1
    assert bus.counters.dropped_too_deep == 1


def test_subscribing_during_a_dispatch_counts_from_the_next_event(bus: Bus) -> None:
    """EV-14: neither the one who comes nor the one who goes is affected within the event."""
    seen: list[str] = []

    def late(event: Event) -> None:
        seen.append("late")

    def leaving(event: Event) -> None:
        seen.append("leaving")

    def first(event: Event) -> None:
        bus.on("A", late)
        bus.off("A", leaving)

    bus.on("A", first)
    bus.on("A", leaving)
    bus.emit(_event("A"))
    bus.wait_idle(5)
    assert seen == ["leaving"]
    bus.emit(_event("A"))
    bus.wait_idle(5)
    assert seen == ["leaving", "late"]


def test_emit_does_not_wait_for_handlers(bus: Bus) -> None:
    """A slow listener costs the writer nothing."""
    go_on = threading.Event()
    bus.on("A", lambda e: go_on.wait(5) and None)
    began = time.monotonic()
    for _ in range(50):
        bus.emit(_event("A"))
    assert time.monotonic() - began < 0.5
    assert not bus.wait_idle(0.01)
    go_on.set()
    assert bus.wait_idle(5)


def test_many_threads_lose_nothing_and_keep_their_order(bus: Bus) -> None:
    """Each thread's events arrive in its order, one at a time, all of them."""
    seen: list[tuple[str, int]] = []
    busy = threading.Lock()

    def handler(event: Event) -> None:
        assert busy.acquire(blocking=False)
        seen.append((event.type, event.payload["n"]))
        busy.release()

    bus.on_any(handler)

    def work(name: str) -> None:
        for n in range(200):
            bus.emit(_event(name, n=n))

    threads = [threading.Thread(target=work, args=(f"T{t}",)) for t in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bus.wait_idle(10)
    for t in range(8):
        assert [n for name, n in seen if name == f"T{t}"] == list(range(200))
    assert bus.counters.delivered == 1600 and bus.counters.handler_errors == 0


def test_the_journal_is_written_before_emit_returns_in_order() -> None:
    """What a crash must not lose is not left to the background thread; dropped events are not journalled."""
    kept: list[int] = []
    bus = Bus(journal=lambda e: kept.append(e.payload["n"]))
    bus.on("A", lambda e: bus.emit(_event("A", n=99)) and None)
    for n in range(3):
        bus.emit(_event("A", n=n))
        assert kept == list(range(n + 1))
    bus.announce(_event("A", n=50))
    assert bus.wait_idle(5)
    assert kept == [0, 1, 2]


def test_handlers_act_as_the_projection(bus: Bus) -> None:
    """What is derived is never attributed to the operator who happened to be last."""
    seen: list[str] = []
    bus.on("A", lambda e: seen.append(current_actor().principal_id))  # type: ignore[union-attr]
    bus.emit(_event("A"))
    assert bus.wait_idle(5)
    assert seen == ["system:projection"]


def test_a_closed_bus_delivers_what_was_queued_and_nothing_more() -> None:
    """Later events still reach the journal."""
    kept: list[int] = []
    seen: list[int] = []
    bus = Bus(journal=lambda e: kept.append(e.payload["n"]))
    bus.on("A", lambda e: seen.append(e.payload["n"]))
    bus.emit(_event("A", n=1))
    assert bus.close(5)
    assert bus.emit(_event("A", n=2))
    assert bus.wait_idle(1)
    assert (seen, kept) == ([1], [1, 2])


def test_waiting_inside_a_handler_does_not_lock(bus: Bus) -> None:
    """A handler that waits for the bus would wait for itself: it is told no."""
    answers: list[bool] = []
    bus.on("A", lambda e: answers.append(bus.wait_idle(5)))
    bus.emit(_event("A"))
    assert bus.wait_idle(2)
    assert answers == [False]
