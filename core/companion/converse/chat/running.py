"""A turn under way: somebody may look on, leave and come back; it goes on without them."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from core.companion.converse.chat.loop import Step, Watcher


@dataclass(frozen=True)
class Update:
    """What happened: a piece of `text`, `clear` (what came so far was no answer), a `step`, or nothing new for a
    moment (`wait`), so that whoever looks on can stop."""

    kind: Literal["text", "clear", "step", "wait"]
    text: str = ""
    step: Step | None = None


class Running(Watcher):
    """Thread-safe. `failure`: why its answer could not be kept, in words; None where all is well."""

    def __init__(self, conversation_id: str, message_id: str, text: str) -> None:
        self.conversation_id = conversation_id
        self.message_id = message_id
        self.question = text
        self.failure: str | None = None
        self._updates: list[Update] = []
        self._news = threading.Condition()
        self._ended = False

    @property
    def ended(self) -> bool:
        return self._ended

    def text(self, piece: str) -> None:
        self._tell(Update("text", piece))

    def clear(self) -> None:
        self._tell(Update("clear"))

    def step(self, step: Step) -> None:
        self._tell(Update("step", step=step))

    def end(self) -> None:
        with self._news:
            self._ended = True
            self._news.notify_all()

    def follow(self, timeout_s: float = 300.0, every_s: float = 0.5) -> Iterator[Update]:
        """Everything from the beginning on, until its end or the time is over; a `wait` at least `every_s`."""
        until, seen = time.monotonic() + timeout_s, 0
        while time.monotonic() < until:
            with self._news:
                if len(self._updates) == seen and not self._ended:
                    self._news.wait(every_s)
                news = self._updates[seen:]
                ended = self._ended
            yield from news or (() if ended else (Update("wait"),))
            seen += len(news)
            if ended and len(self._updates) == seen:
                return

    def wait(self, timeout_s: float = 300.0) -> bool:
        """Whether it has ended by then."""
        for _ in self.follow(timeout_s):
            pass
        return self._ended

    def _tell(self, update: Update) -> None:
        with self._news:
            self._updates.append(update)
            self._news.notify_all()
