"""One POST for each settled change of the overall state, to the address that is configured. Component "webhook".

http.client on purpose: it knows no proxy and follows no redirect, so what is sent goes to that address alone.
"""

from __future__ import annotations

import http.client
import json
import logging
import ssl
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr

from core.health.report import ASIDE, HealthReport, Verdict
from core.health.settle import Change

log = logging.getLogger("core.health.webhook")

TIMEOUT_S = 5.0
PAUSES_S = (2.0, 10.0, 30.0)  # after the first, second and third failure
CALLS = 6  # changes that are told within an hour; later ones wait, and of those that wait the latest is told
WINDOW_S = 3600.0


@dataclass(frozen=True)
class State:
    """How it went: told, failed after all attempts, and the kind of the last failure (empty after a success)."""

    told: int = 0
    failed: int = 0
    last_failure: str = ""


class Webhook:
    """Sends in a thread of its own; `tell` returns at once and never raises. Thread-safe."""

    def __init__(
        self,
        url: SecretStr,
        *,
        timeout_s: float = TIMEOUT_S,
        pauses_s: tuple[float, ...] = PAUSES_S,
        calls: int = CALLS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._url = url
        self._timeout_s = timeout_s
        self._pauses_s = pauses_s
        self._calls = calls
        self._now = now
        self._next: dict[str, Any] | None = None
        self._sent: deque[float] = deque(maxlen=calls)
        self._changed = threading.Condition()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.state = State()

    def tell(self, change: Change, report: HealthReport) -> None:
        """Queue a change; one that waits already is replaced, and keeps its `previous`."""
        with self._changed:
            previous = self._next["previous"] if self._next else change.previous
            self._next = body_of(change, report) | {"previous": previous}
            if previous == change.status:
                self._next = None  # back before anybody was told
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def verdict(self) -> Verdict:
        """How it does, as a component of the report."""
        facts = {"told": self.state.told, "failed": self.state.failed}
        if self.state.last_failure:
            reason = f"The last call failed ({self.state.last_failure})."
            return Verdict("degraded", reason, "Check MEMORY_DESK_WEBHOOK_URL.", facts)
        return Verdict(
            "ok", "No change to tell yet." if not self.state.told else "The last call was taken.", facts=facts
        )

    def close(self) -> None:
        """Stop; what was not sent is dropped. Idempotent."""
        self._over.set()
        with self._changed:
            self._changed.notify_all()

    def _run(self) -> None:
        while not self._over.is_set():
            with self._changed:
                self._changed.wait_for(
                    lambda: self._over.is_set() or (self._next is not None and self._wait_s() <= 0), 1.0
                )
                if self._over.is_set() or self._next is None or self._wait_s() > 0:
                    continue
                body, self._next = self._next, None
                self._sent.append(self._now())
            self._send(body)

    def _wait_s(self) -> float:
        """Seconds until another call may be made."""
        return self._sent[0] + WINDOW_S - self._now() if len(self._sent) == self._calls else 0.0

    def _send(self, body: Mapping[str, Any]) -> None:
        payload = json.dumps(body).encode()
        for pause in (*self._pauses_s, None):
            failure = post(self._url.get_secret_value(), payload, self._timeout_s)
            if not failure:
                self.state = State(self.state.told + 1, self.state.failed)
                return
            log.warning("component=webhook a call failed (%s)", failure)
            if pause is None or self._over.wait(pause):
                break
        self.state = State(self.state.told, self.state.failed + 1, failure)


def body_of(change: Change, report: HealthReport) -> dict[str, Any]:
    """Statuses and names of components, nothing else."""
    return {
        "status": change.status,
        "previous": change.previous,
        "since": change.since.isoformat(),
        "components": [{"name": c.name, "status": c.status} for c in report.components if c.name not in ASIDE],
    }


def post(url: str, payload: bytes, timeout_s: float) -> str:
    """Send once: empty when it was taken, else what went wrong, without a word of the address or of the answer."""
    connection: http.client.HTTPConnection | None = None
    try:
        parts = urlsplit(url)
        if parts.scheme == "https":
            context = ssl.create_default_context()
            connection = http.client.HTTPSConnection(
                parts.hostname or "", parts.port, timeout=timeout_s, context=context
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=timeout_s)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, payload, {"Content-Type": "application/json"})
        status = connection.getresponse().status
        return "" if 200 <= status < 300 else f"HTTP {status}"
    except (OSError, ValueError, http.client.HTTPException) as problem:
        return type(problem).__name__
    finally:
        if connection is not None:
            connection.close()
