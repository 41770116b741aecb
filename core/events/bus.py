"""Events to those who listen: in order, one at a time, behind the back of whoever emitted them."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

from core.events.actor import run_as, system
from core.events.event import Event

log = logging.getLogger(__name__)
Handler = Callable[[Event], None]
Unsubscribe = Callable[[], None]

MAX_DEPTH = 8
_REMEMBERED = 10_000


@dataclass(frozen=True)
class Counters:
    """What the bus did since it was made."""

    emitted: int = 0
    delivered: int = 0
    dropped_same_type: int = 0
    dropped_too_deep: int = 0
    handler_errors: int = 0


_dispatching: ContextVar[Event | None] = ContextVar("dispatching", default=None)
_because: ContextVar[str | None] = ContextVar("because", default=None)


class Bus:
    """Thread-safe. Handlers run one after the other in one background thread, as the system actor `projection`.

    `journal` is called inside `emit`, in the order of emission, before anybody hears of the event: what it writes
    outlives a crash. Source: spec/companion.md, EV-10 to EV-15.
    """

    def __init__(self, journal: Handler | None = None) -> None:
        self._journal = journal
        self._changed = threading.Condition()
        self._queue: deque[Event] = deque()
        self._typed: dict[str, list[Handler]] = {}
        self._any: list[Handler] = []
        self._thread: threading.Thread | None = None
        self._now: Event | None = None
        self._depths: OrderedDict[str, int] = OrderedDict()
        self._counters = Counters()
        self._closed = False

    @property
    def counters(self) -> Counters:
        return self._counters

    @property
    def handlers(self) -> int:
        """How many are registered, of all types."""
        with self._changed:
            return sum(map(len, self._typed.values())) + len(self._any)

    def emit(self, event: Event) -> bool:
        """Queue an event; False where a guard dropped it.

        Dropped are: the type that is being dispatched, emitted by one of its own handlers (it would go round for
        ever), and the ninth link of a chain of causes.
        """
        return self._take(event, self._journal)

    def announce(self, event: Event) -> bool:
        """Queue an event that is already stored, so that the journal does not write it again."""
        return self._take(event, None)

    def on(self, event_type: str, handler: Handler) -> Unsubscribe:
        """Call `handler` with each event of that type from the next one on; twice the same handler counts once."""
        with self._changed:
            handlers = self._typed.setdefault(event_type, [])
            if handler not in handlers:
                handlers.append(handler)
        return lambda: self.off(event_type, handler)

    def on_any(self, handler: Handler) -> Unsubscribe:
        """Call `handler` with each event, after the typed handlers."""
        with self._changed:
            if handler not in self._any:
                self._any.append(handler)
        return lambda: self._remove(self._any, handler)

    def off(self, event_type: str, handler: Handler) -> None:
        """Stop calling it; no error where it was not registered."""
        self._remove(self._typed.get(event_type, []), handler)

    def wait_idle(self, timeout_s: float) -> bool:
        """Whether all that was queued has been delivered within that time. False at once inside a handler."""
        if threading.current_thread() is self._thread:
            return False
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and self._now is None, timeout_s)

    def close(self, timeout_s: float) -> bool:
        """Deliver what is queued and stop. Later events are journalled and not delivered."""
        idle = self.wait_idle(timeout_s)
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        return idle

    def _take(self, event: Event, journal: Handler | None) -> bool:
        inside = _dispatching.get()
        with self._changed:
            if inside is not None and inside is self._now and inside.type == event.type:
                self._count(dropped_same_type=1)
                log.warning("%s emitted by a handler of %s: dropped", event.type, event.type)
                return False
            depth = self._depth_of(event)
            if depth > MAX_DEPTH:
                self._count(dropped_too_deep=1)
                log.warning("%s is link %d of a chain of causes: dropped", event.type, depth)
                return False
            self._remember(event.meta.id, depth)
            if journal:
                journal(event)
            self._count(emitted=1)
            if not self._closed:
                self._queue.append(event)
                self._ensure_thread()
                self._changed.notify_all()
            return True

    def _depth_of(self, event: Event) -> int:
        cause = event.meta.caused_by
        return 0 if cause is None else self._depths.get(cause, 0) + 1

    def _remember(self, event_id: str, depth: int) -> None:
        self._depths[event_id] = depth
        if len(self._depths) > _REMEMBERED:
            self._depths.popitem(last=False)

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="event-bus", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._now = None
                if not self._queue:
                    self._changed.notify_all()
                self._changed.wait_for(lambda: self._queue or self._closed)
                if not self._queue:
                    return
                event = self._now = self._queue.popleft()
                # A copy: whoever comes or goes during the dispatch does so for the next event.
                handlers = [*self._typed.get(event.type, ()), *self._any]
            self._dispatch(event, handlers)

    def _dispatch(self, event: Event, handlers: list[Handler]) -> None:
        token = _dispatching.set(event)
        try:
            with run_as(system("projection")):
                for handler in handlers:
                    try:
                        handler(event)
                    except Exception:
                        log.exception("a handler of %s failed", event.type)
                        self._count(handler_errors=1)
        finally:
            _dispatching.reset(token)
            self._count(delivered=1)

    def _count(self, **more: int) -> None:
        with self._changed:
            self._counters = replace(self._counters, **{k: getattr(self._counters, k) + n for k, n in more.items()})

    def _remove(self, handlers: list[Handler], handler: Handler) -> None:
        with self._changed:
            if handler in handlers:
                handlers.remove(handler)


@contextmanager
def because_of(event_id: str) -> Iterator[None]:
    """What is emitted inside is caused by that event of the past: for what takes it back."""
    token = _because.set(event_id)
    try:
        yield
    finally:
        _because.reset(token)


def current_cause() -> str | None:
    """The id of the event whose handler is running here, else of `because_of`, or None."""
    event = _dispatching.get()
    return event.meta.id if event else _because.get()
