"""The commands merge and erase: they only look without --yes."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from core.bootstrap import Core
from core.cli import main
from core.memory.keys import both_keys
from tests.support.dialogs import body

TIPS, GENERIC = both_keys("ru-1", "tu-9")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def pair(core: Core) -> Core:
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    core.ingest.ingest(body(None, clientId="ru-1", womanId="tu-9"))
    return core


def test_merge(pair: Core, capsys: Capture) -> None:
    """Preview, merge, undo; what is missing is a usage error, what cannot be is a failure."""
    assert main(["merge", "--ru", "ru-1", "--tu", "tu-9"]) == 0
    said = capsys.readouterr().out
    assert "Nothing was changed" in said and "consider --copy" in said and TIPS in said
    assert pair.dialogs.ambiguous_pairs().total == 1
    assert main(["merge", "--keep", TIPS, "--drop", GENERIC, "--yes", "--json"]) == 0
    merge_id = json.loads(capsys.readouterr().out)["done"]["mergeId"]
    assert pair.dialogs.ambiguous_pairs().total == 0
    assert main(["merge", "--undo", merge_id]) == 0
    assert pair.dialogs.ambiguous_pairs().total == 1
    assert main(["merge", "--undo", merge_id]) == 1
    assert main(["merge", "--keep", TIPS]) == 2


def test_erase(pair: Core, capsys: Capture) -> None:
    """Preview, then both keys of the pair; without a reason nothing happens."""
    assert main(["erase", "--dialog", TIPS]) == 0
    said = capsys.readouterr().out
    assert "client_memory_chunks" in said and GENERIC in said and "Nothing was erased" in said
    assert main(["erase", "--ru", "ru-1", "--tu", "tu-9", "--yes"]) == 2
    capsys.readouterr()
    assert main(["erase", "--ru", "ru-1", "--tu", "tu-9", "--reason", "request", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["done"]["left"] == []
    assert pair.dialogs.get(TIPS) is None and pair.dialogs.get(GENERIC) is None
    assert main(["erase", "--dialog", TIPS, "--reason", "request", "--yes"]) == 1
    assert main(["erase"]) == 2
