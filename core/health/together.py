"""Several questions asked at once, each in its own thread, none waited for beyond the deadline."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What a question gave: a value, or the error it raised, or nothing yet (`answered` is False)."""

    answered: bool
    value: Any = None
    error: Exception | None = None
    latency_ms: float = 0.0


def ask_together(questions: Mapping[str, Callable[[], Any]], deadline_s: float) -> dict[str, Outcome]:
    """An outcome for each question, at the latest `deadline_s` after the call.

    One that hangs keeps its daemon thread until it ends by itself, so each should have a deadline of its own that is
    a little shorter; it neither delays the others nor the end of the process.
    """
    began = time.monotonic()
    outcomes: dict[str, Outcome] = {}
    changed = threading.Condition()

    def ask(name: str, question: Callable[[], Any]) -> None:
        value, error = None, None
        try:
            value = question()
        except Exception as problem:
            error = problem
        with changed:
            outcomes[name] = Outcome(True, value, error, (time.monotonic() - began) * 1000)
            changed.notify_all()

    for name, question in questions.items():
        threading.Thread(target=ask, args=(name, question), name=f"health-{name}", daemon=True).start()
    with changed:
        changed.wait_for(lambda: len(outcomes) == len(questions), max(0.0, deadline_s - (time.monotonic() - began)))
        silent = Outcome(False, latency_ms=(time.monotonic() - began) * 1000)
        return {name: outcomes.get(name, silent) for name in questions}
