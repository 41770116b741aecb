"""Processes told apart by their birth."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from core.local.processes import Process, born, find, poll, postgres_workers, signal_all, this_process, works_on


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    yield child
    child.kill()
    child.wait()


def test_a_process_is_itself(sleeper: subprocess.Popen[bytes]) -> None:
    """The same process has the same birth each time, another one has another."""
    found = find(sleeper.pid)
    assert found == find(sleeper.pid) and found is not None and found.alive()
    assert found.born != this_process().born or found.pid != os.getpid()


def test_a_reused_pid_is_somebody_else(sleeper: subprocess.Popen[bytes]) -> None:
    """A living process with the remembered pid and another birth is not the remembered one."""
    assert not Process(sleeper.pid, "another-boot-17").alive()


def test_a_zombie_is_dead(sleeper: subprocess.Popen[bytes]) -> None:
    """A killed child that nobody waited for still has its pid, and counts as gone."""
    remembered = find(sleeper.pid)
    assert remembered is not None
    sleeper.kill()
    assert remembered.wait(5)
    os.kill(sleeper.pid, 0)  # the pid is still taken
    assert born(sleeper.pid) is None


def test_impossible_pids_are_nobody() -> None:
    """Zero, negative and unused pids have no birth; a signal to nobody does nothing."""
    assert [born(0), born(-5), born(2**22 + 7)] == [None, None, None]
    signal_all([Process(2**22 + 7, "x")], 9)


def test_only_a_postgres_works_on_a_data_folder(tmp_path: Path, sleeper: subprocess.Popen[bytes]) -> None:
    """A process of another kind in that very folder is no worker."""
    other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], cwd=tmp_path)
    try:
        assert works_on(other.pid, tmp_path) is None
        assert postgres_workers(tmp_path).here == ()
    finally:
        other.kill()
        other.wait()


def test_polling_ends_with_the_last_answer() -> None:
    """True as soon as it is done, False when the time is over."""
    answers = iter([False, False, True])
    assert poll(lambda: next(answers), 5, every=0)
    assert not poll(lambda: False, 0.01)
