"""The thread that ends a server which nobody uses any more."""

from __future__ import annotations

import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from core.local import attendant
from core.local import state as states
from core.local.keys import new_keys
from core.local.processes import Process, this_process
from core.local.state import Client, State

GONE = Client("gone", Process(2**22 + 7, "x"))


class Watch:
    """`attend` in a thread, with signals caught and Postgres only counted."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.signals: list[int] = []
        self.stopped: list[Path] = []
        watch = self

        class Server:
            def __init__(self, pgdata: Path) -> None:
                self.pgdata = pgdata

            def stop(self) -> None:
                watch.stopped.append(self.pgdata)

        monkeypatch.setattr(attendant, "PostgresServer", Server)
        monkeypatch.setattr(os, "kill", lambda _, number: self.signals.append(number))
        self.thread = threading.Thread(target=attendant.attend, args=(folder, 0.02, 0.2), daemon=True)
        self.thread.start()

    def ended(self, seconds: float = 5) -> bool:
        self.thread.join(seconds)
        return not self.thread.is_alive()


def state(*clients: Client) -> State:
    return State(new_keys(), postgres=Process(17, "x"), gateway=this_process(), port=1, clients=clients)


def test_while_a_client_lives_it_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And ends soon after the last one died without a word, Postgres first."""
    alive = Client("here", this_process())
    states.write(tmp_path, state(GONE, alive))
    watch = Watch(tmp_path, monkeypatch)
    assert not watch.ended(0.6) and watch.stopped == []
    states.write(tmp_path, state(GONE))
    assert watch.ended()
    assert (watch.signals, watch.stopped) == ([signal.SIGTERM], [tmp_path / "pg"])
    left = states.read(tmp_path)
    assert left is not None and (left.postgres, left.gateway, left.clients) == (None, None, ())


def test_a_server_of_somebody_else_is_not_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A guest's gateway ends alone."""
    states.write(tmp_path, replace(state(), guest=True))
    watch = Watch(tmp_path, monkeypatch)
    assert watch.ended() and watch.stopped == [] and watch.signals == [signal.SIGTERM]


def test_a_gateway_that_was_replaced_ends_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """server.json names another one: its clients keep their server."""
    other = replace(state(Client("here", this_process())), gateway=Process(17, "x"))
    states.write(tmp_path, other)
    watch = Watch(tmp_path, monkeypatch)
    assert watch.ended() and watch.stopped == [] and states.read(tmp_path) == other


def test_without_its_folder_it_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody deleted the data; the folder is not made again."""
    watch = Watch(tmp_path / "gone", monkeypatch)
    assert watch.ended() and watch.stopped == [] and not (tmp_path / "gone").exists()


def test_logs_do_not_grow_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the limit they begin anew."""
    monkeypatch.setattr(attendant, "LOG_LIMIT", 100)
    (tmp_path / "pg.log").write_text("x" * 101)
    (tmp_path / "gateway.log").write_text("x" * 100)
    watch = Watch(tmp_path, monkeypatch)
    assert watch.ended()
    assert [(tmp_path / name).stat().st_size for name in ("pg.log", "gateway.log")] == [0, 100]
