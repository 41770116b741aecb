"""`python -m core usage`: sums with their cost, one dialog, the totals against the rows, exit codes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import psycopg
import pytest

from core.bootstrap import Core
from core.cli import main

BODY = {
    "requestId": "6f1c2a7e-0000-4000-8000-000000000001",
    "dialogKey": "d",
    "entries": [
        {"provider": "gemini", "model": "m", "phase": "embed", "promptTokens": 7, "at": "2026-11-20T10:00:00Z"},
        {"provider": "xai", "model": "g", "phase": "generate", "promptTokens": 5, "at": "2026-11-21T10:00:00Z"},
    ],
}


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def test_sums(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """By what was asked for, with a line for all; what has no price says so; JSON for machines."""
    core.usage.record(BODY)
    span = ["--from", "2026-11-01", "--to", "2026-11-30"]
    assert main(["usage", *span, "--by", "phase"]) == 0
    said = capsys.readouterr().out
    assert "embed" in said
    assert "no price" in said
    assert main(["usage", *span, "--by", "provider", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(r["provider"], r["total"], r["costUsd"]) for r in rows] == [("gemini", 7, None), ("xai", 5, None)]


def test_one_dialog(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """Its sums, from a moment on, that moment included."""
    core.usage.record(BODY)
    assert main(["usage", "--dialog", "d", "--since", "2026-11-21T10:00:00Z", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"calls": 1, "prompt": 5, "completion": 0, "total": 5}


def test_check_and_rebuild(core: Core, dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 1 while totals and rows differ; a rebuild brings them together."""
    core.usage.record(BODY)
    assert main(["usage", "--check"]) == 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("update desk_usage_hours set total = total + 1")
    assert main(["usage", "--check"]) == 1
    assert main(["usage", "--rebuild"]) == 0
    assert main(["usage", "--check", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["equal"] is True


@pytest.mark.parametrize("arguments", [["--from", "soon"], ["--by", "colour"]])
def test_bad_arguments(core: Core, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """A readable line on stderr and exit code 1."""
    assert main(["usage", *arguments]) == 1
    assert "Failed" in capsys.readouterr().err
