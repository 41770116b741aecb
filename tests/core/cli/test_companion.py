"""The offline runner: exit codes, what it leaves alone, a real process beside another, and one that is killed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.cli.main import main
from core.companion.act.missions.missions import Missions
from core.events.actor import LOCAL_OPERATOR
from tests.support.application import ROOT, clean_environment
from tests.support.missions import draft, expire, make, statuses, weekly

Run = Callable[..., int]


@pytest.fixture
def run(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Run:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    return lambda *args: main(["companion", "run", *args])


def due(dsn: str, id: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute("update companion_missions set next_run_at = now() - interval '1 minute' where id = %s", [id])


def cleanup(core: Core, dsn: str) -> str:
    """A weekly clean-up that is due, with three expired snapshots."""
    expire(dsn, datetime.now(UTC))
    wanted = draft(**weekly())
    core.companion.missions.save(LOCAL_OPERATOR, wanted)
    due(dsn, wanted.id)
    return wanted.id


def process(env: Mapping[str, str], *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "core", "companion", "run", *args],
        cwd=ROOT,
        env=clean_environment() | dict(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_nothing_due(core: Core, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """It says so, and that is no failure; for machines it is an empty list."""
    assert run("--once") == 0 and "No mission is due." in capsys.readouterr().out
    assert run("--once", "--json") == 0 and json.loads(capsys.readouterr().out) == {"missions": []}


def test_run_here_as_the_server(core: Core, dsn: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """What is due is run and told; its source is the server."""
    id = cleanup(core, dsn)
    assert run("--once", "--json") == 0
    (told,) = json.loads(capsys.readouterr().out)["missions"]
    assert told == {"id": id, "title": "Clean-up", "status": "awaiting-review", "why": None}
    (done,) = core.companion.missions.iterations(id).rows
    assert done.source == "server" and core.companion.act.proposals.list("pending", mission_id=id).total == 1


def test_what_its_tier_may_not_see(core: Core, dsn: str, run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    """A mission for a model is left for the application where no model may answer: not run, not failed."""
    made = make(core.companion.missions, cadence=weekly()["cadence"])
    due(dsn, made.id)
    assert run("--once") == 0 and "left alone, no model may or can answer here" in capsys.readouterr().out
    assert statuses(core.companion.missions, made) == []


def test_a_failed_run(core: Core, dsn: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 1."""
    cleanup(core, dsn)
    core.companion.act.policies.override("deny", tool=core.companion.act.toolbox.find("preview_cleanup"))
    assert run("--once") == 1


def test_stopped_by_ctrl_c(core: Core, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two looks: a word, no traceback, exit code 1."""

    def interrupt(self: Missions, seconds: float) -> bool:
        raise KeyboardInterrupt

    monkeypatch.setattr(Missions, "pause", interrupt)
    assert run() == 1


def test_beside_the_application(core: Core, dsn: str, env: Mapping[str, str]) -> None:
    """A real process and this one look at the same moment: one iteration, one proposal; approved, it runs."""
    id = cleanup(core, dsn)
    other = process(env, "--once", "--json")
    mine: list[Any] = []
    while other.poll() is None and not core.companion.missions.iterations(id).rows:
        mine += core.companion.missions.run_due()
    out, err = other.communicate(timeout=90)
    assert other.returncode == 0, err
    ran = [one["status"] for one in json.loads(out)["missions"]] + [one.status for one in mine]
    assert [status for status in ran if status] == ["awaiting-review"]
    (done,) = core.companion.missions.iterations(id).rows
    (proposal,) = core.companion.act.proposals.list("pending", mission_id=id).rows
    assert core.companion.act.proposals.approve(proposal.id).succeeded
    assert core.companion.missions.iterations(id).rows[0].status == "approved" and done.status == "awaiting-review"
    with psycopg.connect(dsn) as db:
        assert db.execute("select count(*) from tips_daily_entity_snapshots").fetchone() == (0,)


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_told_to_end(core: Core, dsn: str, env: Mapping[str, str], sign: signal.Signals) -> None:
    """It leaves at once, with a word and no traceback, and nothing stays leased."""
    made = make(core.companion.missions, planner="rules", template="usage_review", cadence=weekly()["cadence"])
    due(dsn, made.id)
    runner = process(env)
    assert runner.stdout is not None and made.id in runner.stdout.readline()
    runner.send_signal(sign)
    _, err = runner.communicate(timeout=60)
    assert runner.returncode == 1 and "Traceback" not in err and "Stopped." in err
    assert core.companion.missions.get(made.id).lease_until is None
