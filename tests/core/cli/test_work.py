"""The commands reembed and jobs, in this process against the worker's server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pytest

from core.cli import main
from tests.support.dialogs import SpyEmbedder, body

if TYPE_CHECKING:
    from core.bootstrap import Core

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def of_another_model(core: Core, *keys: str) -> None:
    core.embedder._fixed = SpyEmbedder("other:768")
    for key in keys:
        core.ingest.ingest(body(key))


def said(capsys: Capture) -> Any:
    return json.loads(capsys.readouterr().out)


def test_reembed_says_what_it_takes_and_does_it(core: Core, capsys: Capture) -> None:
    """First the rows, the estimate and the cost, then the job, done here; the second time there is nothing to do."""
    of_another_model(core, "k1", "k2")
    assert main(["reembed", "--dry-run"]) == 0
    printed = capsys.readouterr().out
    assert "28 chunks to embed with test:768: ~" in printed and "no cost" in printed and "other:768" in printed
    assert core.jobs.list().total == 0
    assert main(["reembed", "--dialog", "k1"]) == 0
    assert "done: 14 embedded again, 0 passed over." in capsys.readouterr().out
    assert main(["reembed", "--json"]) == 0
    answer = said(capsys)
    assert (answer["chunks"], answer["job"]["state"], answer["job"]["result"]["written"]) == (14, "done", 14)
    assert core.dialogs.overview().by_model == {"test:768": 28}
    assert main(["reembed"]) == 0
    assert core.jobs.list().rows[0].actor["principal_id"].startswith("cli:")


def test_half_a_pair_is_a_usage_error(core: Core, capsys: Capture) -> None:
    """--ru without --tu."""
    assert main(["reembed", "--ru", "r"]) == 2
    assert "belong together" in capsys.readouterr().err


def test_jobs_are_listed_and_stopped(core: Core, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line each; --cancel asks one to stop; an id that is none fails."""
    monkeypatch.setattr("core.jobs.worker.Worker.run_one", lambda self, id=None: None)
    staged = core.intake.stage([("a.json", json.dumps(body("k1")).encode())])
    job = core.intake.start(staged, windows=False)
    assert main(["jobs"]) == 0
    printed = capsys.readouterr().out
    assert job.id in printed and "Ingest" in printed and "1 of 1 jobs, 1 of them queued or running." in printed
    assert main(["jobs", "--json"]) == 0
    answer = said(capsys)
    assert [(j["id"], j["state"]) for j in answer["jobs"]] == [(job.id, "queued")] and answer["running"] == 1
    assert main(["jobs", "--cancel", job.id]) == 0
    assert "cancelled" in capsys.readouterr().out
    assert main(["jobs", "--cancel", "nonsense"]) == 1
    assert "not there" in capsys.readouterr().err
