"""Jobs of a kind that counts its steps, in this process and in others."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from core.db.client import Database
from core.events.emitter import open_events
from core.jobs.jobs import Jobs
from core.jobs.run import JobRun

if TYPE_CHECKING:
    from core.local.server import Endpoint

ROOT = Path(__file__).resolve().parents[3]


def counting(run: JobRun) -> Mapping[str, Any]:
    """`steps` steps of `pause_s`; each is noted once by a row of desk_meta, and saved."""
    steps = int(run.params["steps"])
    for step in range(int(run.cursor.get("step", 0)), steps):
        run.check()
        time.sleep(float(run.params.get("pause_s", 0)))
        run.result["steps"] = step + 1
        run.progress(step + 1, steps, f"Step {step + 1} of {steps}")
        run.save({"step": step + 1})
    return {"steps": steps}


@pytest.fixture
def make_jobs(endpoint: Endpoint, tmp_path: Path) -> Iterator[Callable[..., Jobs]]:
    """Jobs as another process of the same data folder has them; none takes work by itself."""
    from core.clock import SystemClock

    opened: list[Any] = []

    def make(folder: Path | None = None, **kinds: Any) -> Jobs:
        db = Database(endpoint.url, endpoint.service_role_key)
        events = open_events(db, tmp_path / f"spool{len(opened)}", SystemClock())
        jobs = Jobs(db, events, folder or tmp_path / "data", lease_s=2)
        for name, handler in {"count": counting, **kinds}.items():
            jobs.register(name, handler, action="jobs", title=name.title())
        opened.extend((jobs, events, db))
        return jobs

    yield make
    for thing in opened:
        thing.close()


@pytest.fixture
def other_process(endpoint: Endpoint, tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[bytes]]]:
    """A process that takes jobs of the kind `count` until it is killed."""
    script = (
        "import sys, pathlib, importlib.util\n"
        "spec = importlib.util.spec_from_file_location('kinds', sys.argv[1])\n"
        "kinds = importlib.util.module_from_spec(spec); spec.loader.exec_module(kinds)\n"
        "from core.clock import SystemClock\n"
        "db = kinds.Database(sys.argv[2], sys.argv[3])\n"
        "folder = pathlib.Path(sys.argv[4])\n"
        "events = kinds.open_events(db, folder / sys.argv[5], SystemClock())\n"
        "jobs = kinds.Jobs(db, events, folder / 'data', lease_s=2)\n"
        "jobs.register('count', kinds.counting, action='jobs', title='Count')\n"
        "jobs.work()\n"
        "import time; time.sleep(120)\n"
    )
    running: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        arguments = (__file__, endpoint.url, endpoint.service_role_key, str(tmp_path), f"other{len(running)}")
        running.append(subprocess.Popen([sys.executable, "-c", script, *arguments], cwd=ROOT, env=dict(os.environ)))
        return running[-1]

    yield start
    for process in running:
        process.kill()
        process.wait()


def until(found: Callable[[], Any], timeout_s: float = 30.0) -> Any:
    """The first true answer."""
    deadline = time.monotonic() + timeout_s
    while time.monotonic() < deadline:
        answer = found()
        if answer:
            return answer
        time.sleep(0.05)
    raise AssertionError("it did not happen in time")
