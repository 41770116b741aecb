"""Backup and restore of the embedded database: with writes meanwhile, into another folder, and after an erasure."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.cli.main import main
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.events.actor import LOCAL_OPERATOR, run_as
from core.memory.hits import SearchRequest
from tests.support.dialogs import body

Run = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def env(data_dir: Path) -> Mapping[str, str]:
    return {
        "MEMORY_DESK_DATABASE": "embedded",
        "MEMORY_DESK_DATA_DIR": str(data_dir),
        "MEMORY_DESK_EMBEDDER": "test",
        "MEMORY_DESK_DEMO": "off",
    }


@pytest.fixture
def run(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    def done(*words: str, **more: str) -> tuple[int, dict[str, Any]]:
        for name, value in {**env, **more}.items():
            monkeypatch.setenv(name, value)
        capsys.readouterr()
        code = main([*words, "--json"])
        out = capsys.readouterr()
        return code, json.loads(out.out or out.err)

    return done


@pytest.fixture
def opened(env: Mapping[str, str]) -> Iterator[Callable[[], Core]]:
    made: list[Core] = []

    def open_(**more: str) -> Core:
        made.append(build_core(read_settings({**env, **more}), embedder=TestEmbedder(), background=False))
        return made[-1]

    yield open_
    for core in made:
        core.close()


def found(core: Core, key: str) -> list[tuple[str, float]]:
    return [(hit.text, round(hit.weighted_score, 6)) for hit in core.search.search(SearchRequest(key, "trust")).hits]


def test_there_and_back(run: Run, opened: Callable[..., Core], tmp_path: Path, data_dir: Path) -> None:
    """Taken while rows are written; restored into an empty folder: counts, searches and the chain as they were.

    A name that is taken, a file that is none and a database that holds data are refused, and nothing is changed.
    """
    core, stop = opened(), threading.Event()
    core.ingest.ingest(body("k1", messages=20))

    def write() -> None:
        with run_as(LOCAL_OPERATOR):
            number = 0
            while not stop.is_set():
                core.ingest.ingest(body(f"live-{number}", messages=3))
                number += 1

    writer = threading.Thread(target=write)
    writer.start()
    file = tmp_path / "desk.backup"
    code, said = run("backup", str(file))
    stop.set()
    writer.join()
    assert code == 0 and file.stat().st_mode & 0o777 == 0o600
    assert run("backup", str(file))[0] == 1
    before = found(core, "k1")
    core.events.flush()
    assert (
        run("restore", str(file), "--replace")[1]["error"]["message"] == "Memory Desk is running on this data folder."
    )
    core.close()

    other = {"MEMORY_DESK_DATA_DIR": str(data_dir.parent / "other")}
    (tmp_path / "no.backup").write_text("PG")
    assert run("restore", str(tmp_path / "no.backup"), **other)[0] == 1
    code, back = run("restore", str(file), **other)
    assert code == 0 and back["chain"] is True and back["erasedAgain"] == 0
    assert back["rows"] == said["rows"] and back["chainHead"] == said["chainHead"]
    restored = opened(**other)
    assert found(restored, "k1") == before and len(before) == 12
    restored.ingest.ingest(body("after", messages=2))
    restored.events.flush()
    assert restored.events.store.verify().ok
    restored.close()
    code, refused = run("restore", str(file), **other)
    assert code == 1 and "not empty" in refused["error"]["message"]
    again = opened(**other)
    assert found(again, "after"), "a refused restore changed nothing"


def test_who_was_erased_stays_erased(run: Run, opened: Callable[..., Core], tmp_path: Path) -> None:
    """A backup from before an erasure brings nobody back."""
    core = opened()
    core.ingest.ingest(body("stays", messages=3))
    core.ingest.ingest(body("gone", messages=3))
    core.close()
    file = tmp_path / "desk.backup"
    assert run("backup", str(file))[0] == 0
    core = opened()
    core.erasures.erase("gone", "request")
    core.close()
    code, back = run("restore", str(file), "--replace")
    assert code == 0 and back["erasedAgain"] == 1
    core = opened()
    assert core.local is not None
    with psycopg.connect(core.local.endpoint.dsn) as db:
        keys = {row[0] for row in db.execute("select distinct dialog_key from client_memory_chunks")}
    assert keys == {"stays"}
