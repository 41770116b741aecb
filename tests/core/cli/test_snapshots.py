"""`python -m core cleanup`: what it says, what it deletes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import psycopg
import pytest

from core.bootstrap import Core
from core.cli import main
from tests.support.snapshots import count, row, upstream


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def test_cleanup(core: Core, dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A dry run deletes nothing and says what it would; a run deletes; a negative limit fails."""
    with psycopg.connect(dsn, autocommit=True) as sql:
        upstream(sql, *(row(source_id=str(n), expires_at="2026-01-01T00:00:00Z") for n in range(3)))
        upstream(sql, row(source_id="n", expires_at=None))
        assert main(["cleanup", "--dry-run"]) == 0
        said = capsys.readouterr().out
        assert "3 (note 3)" in said
        assert "Without an expiry, kept: 1." in said
        assert count(sql) == 4
        assert main(["cleanup", "--limit", "1", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["deleted"] == 1
        assert main(["cleanup"]) == 0
        assert "Deleted: 2." in capsys.readouterr().out
        assert count(sql) == 1
        assert main(["cleanup", "--limit", "-1"]) == 1
