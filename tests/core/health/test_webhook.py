"""One POST per settled change, to that address alone; counted."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from pydantic import SecretStr

from core.health.changes import Changes
from core.health.report import Component, HealthReport, Status
from core.health.settle import Change
from core.health.webhook import CALLS, Webhook, body_of, post

AT = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


class Receiver:
    """Counts what arrives; answers with the next of `script`, else 204. "hang" gives no answer."""

    def __init__(self, *script: int | str) -> None:
        self.script = list(script)
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.paths.append(self.path)
                receiver.bodies.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                step = receiver.script.pop(0) if receiver.script else 204
                if step == "hang":
                    time.sleep(1.0)
                    return
                self.send_response(int(step))
                if step == 302:
                    self.send_header("Location", "/elsewhere")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/hook?token=secret"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def hook(receiver: Receiver) -> Iterator[Callable[..., Webhook]]:
    made: list[Webhook] = []

    def make(**options: Any) -> Webhook:
        made.append(Webhook(SecretStr(receiver.url), **{"pauses_s": (0.01, 0.01), "timeout_s": 0.3, **options}))
        return made[-1]

    yield make
    for each in made:
        each.close()


def _report(status: Status, minutes: float = 0) -> HealthReport:
    at = AT + timedelta(minutes=minutes)
    parts = (("auth", status), ("database", "ok"), ("webhook", "degraded"))
    return HealthReport(tuple(Component(n, n, s, "said", "", at, at, 1.0, {"k": 1}) for n, s in parts), at)  # type: ignore[arg-type]


def _change(status: Status, previous: Status = "ok") -> Change:
    return Change("overall", status, previous, AT, AT)


def _wait(reached: Callable[[], bool], seconds: float = 5.0) -> bool:
    until = time.monotonic() + seconds
    while time.monotonic() < until and not reached():
        time.sleep(0.01)
    return reached()


def test_the_body_holds_statuses_and_nothing_else() -> None:
    """No reason, no fact, no host; the webhook itself is left out."""
    assert body_of(_change("down"), _report("down")) == {
        "status": "down",
        "previous": "ok",
        "since": AT.isoformat(),
        "components": [{"name": "auth", "status": "down"}, {"name": "database", "status": "ok"}],
    }


def test_one_change_one_call(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """With the path and query that were configured."""
    webhook = hook()
    webhook.tell(_change("down"), _report("down"))
    assert _wait(lambda: webhook.state.told == 1)
    assert receiver.paths == ["/hook?token=secret"] and receiver.bodies[0]["status"] == "down"
    assert webhook.verdict().status == "ok"


def test_an_hour_around_the_limit_calls_nobody(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """Case 19, counted: a state that turns every minute, and then a real outage with its end: two calls."""
    webhook = hook()

    class Silent:
        def emit(self, *_: object, **__: object) -> None:
            pass

    changes = Changes(Silent(), None, webhook.tell)  # type: ignore[arg-type]
    for n in range(60):
        changes.see(_report("degraded" if n % 2 else "ok", n))
    for n in range(60, 65):
        changes.see(_report("down", n))
    assert _wait(lambda: len(receiver.bodies) == 1)
    for n in range(65, 70):
        changes.see(_report("ok", n))
    assert _wait(lambda: len(receiver.bodies) == 2)
    time.sleep(0.1)
    assert [(b["previous"], b["status"]) for b in receiver.bodies] == [("ok", "down"), ("down", "ok")]


def test_failures_are_retried_then_logged(
    receiver: Receiver, hook: Callable[..., Webhook], caplog: pytest.LogCaptureFixture
) -> None:
    """Status, silence, redirect: each a failure; the log has the kind and never the address."""
    receiver.script = [500, "hang", 302]
    webhook = hook()
    with caplog.at_level(logging.WARNING):
        webhook.tell(_change("down"), _report("down"))
        assert _wait(lambda: webhook.state.failed == 1)
    assert len(receiver.bodies) == 3 and "/elsewhere" not in receiver.paths
    assert webhook.verdict().status == "degraded" and "HTTP 302" in webhook.verdict().reason
    assert "component=webhook" in caplog.text and "secret" not in caplog.text and "127.0.0.1" not in caplog.text


def test_a_retry_that_is_taken_is_one_success(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """Two attempts, one change."""
    receiver.script = [503]
    webhook = hook()
    webhook.tell(_change("down"), _report("down"))
    assert _wait(lambda: webhook.state.told == 1) and webhook.state.failed == 0 and len(receiver.bodies) == 2


def test_no_more_than_a_few_an_hour(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """Thirty changes: six calls; what waits is the latest, and it is told when there is room again."""
    clock = [0.0]
    webhook = hook(now=lambda: clock[0])
    for n in range(30):
        now, before = ("down", "ok") if n % 2 == 0 else ("ok", "down")
        webhook.tell(_change(now, before), _report(now))  # type: ignore[arg-type]
        _wait(lambda: webhook.state.told >= min(n + 1, CALLS), 1.0)  # noqa: B023
    webhook.tell(_change("degraded", "ok"), _report("degraded"))
    time.sleep(0.05)
    assert len(receiver.bodies) == CALLS
    clock[0] = 3601.0
    assert _wait(lambda: len(receiver.bodies) == CALLS + 1)
    assert receiver.bodies[-1]["status"] == "degraded"


def test_a_change_that_went_back_before_it_was_told_is_none(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """Down and up again while the cap holds both back."""
    webhook = hook(calls=1, now=lambda: 0.0)
    webhook.tell(_change("degraded"), _report("degraded"))
    assert _wait(lambda: webhook.state.told == 1)
    webhook.tell(_change("down", "degraded"), _report("down"))
    webhook.tell(_change("degraded", "down"), _report("degraded"))
    assert webhook._next is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/x", "https://127.0.0.1:1/x", "http://[", "http://x.invalid/"])
def test_what_cannot_be_reached_is_a_kind(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never an exception; a proxy of the environment is not asked."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:2")
    assert post(url, b"{}", 0.3)


def test_closing_drops_what_waits(receiver: Receiver, hook: Callable[..., Webhook]) -> None:
    """The process ends at once."""
    receiver.script = [500, 500, 500]
    webhook = hook(pauses_s=(30.0,))
    webhook.tell(_change("down"), _report("down"))
    assert _wait(lambda: len(receiver.bodies) == 1)
    began = time.monotonic()
    webhook.close()
    assert time.monotonic() - began < 1.0
