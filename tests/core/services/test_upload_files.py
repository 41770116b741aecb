"""Uploads on disk: who may read them, when they go, what an erasure leaves."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.clock import FixedClock
from core.errors import InputError
from core.services.upload_files import UploadFiles
from tests.support.dialogs import body

JOB = "11111111-2222-3333-4444-555555555555"


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime.now(UTC))


@pytest.fixture
def files(tmp_path: Path, clock: FixedClock) -> UploadFiles:
    return UploadFiles(tmp_path, clock)


def rows(*keys: str) -> list[dict]:
    return [{"label": f"chat.jsonl, line {n}", "body": body(key)} for n, key in enumerate(keys, start=1)]


def names(tmp_path: Path) -> set[str]:
    return {path.name for path in (tmp_path / "uploads").iterdir()}


def test_only_the_owner_reads_them_and_the_name_is_the_hash(files: UploadFiles, tmp_path: Path) -> None:
    """Mode 0600, no name of the uploaded file, equal content under one name."""
    sha = files.keep(rows("k1", "k2"))
    assert files.keep(rows("k1", "k2")) == sha
    files.hand_over(sha, JOB)
    files.add_result(JOB, 0, {"label": "chat.jsonl, line 1", "dialogKey": "k1"})
    assert names(tmp_path) == {f"{sha}.upload", f"{sha}.{JOB}.upload", f"{JOB}.results"}
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "uploads").iterdir()}
    assert modes == {0o600} and stat.S_IMODE((tmp_path / "uploads").stat().st_mode) == 0o700


def test_lines_come_back_from_where_one_stopped(files: UploadFiles) -> None:
    """Bodies and unread places, with their numbers, also texts with half a character."""
    sha = files.keep(
        [*rows("k1", "k2"), {"label": "x", "problem": "Not read."}, {"label": "y", "body": {"a": "\ud800"}}]
    )
    lines = list(files.lines(sha, start=1))
    assert [(line.number, line.label) for line in lines] == [(1, "chat.jsonl, line 2"), (2, "x"), (3, "y")]
    assert lines[1].problem == "Not read." and lines[2].body == {"a": "\ud800"}


def test_results_behind_the_saved_offset_are_written_again(files: UploadFiles) -> None:
    """A run that was killed leaves a line that the next one replaces."""
    first = files.add_result(JOB, 0, {"label": "a"})
    files.add_result(JOB, first, {"label": "half done"})
    files.add_result(JOB, first, {"label": "b"})
    assert [row["label"] for row in files.results(JOB)] == ["a", "b"]


def test_they_go_with_the_job_or_after_seven_days(files: UploadFiles, clock: FixedClock, tmp_path: Path) -> None:
    """The job's hold and the upload; the results stay until their time."""
    sha = files.keep(rows("k1"))
    files.hand_over(sha, JOB)
    files.add_result(JOB, 0, {"label": "a"})
    files.remove(sha)
    assert len(list(files.lines(sha, JOB))) == 1, "a job keeps its hold"
    files.let_go(sha, JOB)
    assert names(tmp_path) == {f"{JOB}.results"}
    clock.at += timedelta(days=6, hours=23)
    assert files.sweep() == 0
    clock.at += timedelta(hours=2)
    assert files.sweep() == 1 and not names(tmp_path)
    with pytest.raises(InputError, match="no longer kept"):
        files.hand_over(sha, JOB)
    with pytest.raises(InputError, match="no longer kept"):
        list(files.lines(sha))
    assert list(files.results(JOB)) == []


def test_an_erasure_overwrites_in_place(files: UploadFiles, tmp_path: Path) -> None:
    """By key or by pair, in uploads and results; other dialogs keep their lines and their places."""
    by_pair = {"label": "p", "body": body(None, clientId="ru-7", womanId="tu-7")}
    sha = files.keep([*rows("k1", "k2"), by_pair, {"label": "broken", "body": {"conversationJson": "{"}}])
    files.hand_over(sha, JOB)
    offset = files.add_result(JOB, 0, {"label": "line 1", "dialogKey": "k1", "chunks": 3})
    files.add_result(JOB, offset, {"label": "line 2", "dialogKey": "k2", "chunks": 3})
    size = (tmp_path / "uploads" / f"{sha}.upload").stat().st_size
    assert files.erase(["k1"], "ru-7", "tu-7") == 3, "one file with two names, and one result"
    assert (tmp_path / "uploads" / f"{sha}.{JOB}.upload").stat().st_size == size
    assert [(line.number, line.label, line.erased) for line in files.lines(sha, JOB)] == [
        (0, "", True),
        (1, "chat.jsonl, line 2", False),
        (2, "", True),
        (3, "broken", False),
    ]
    assert [row["label"] for row in files.results(JOB)] == ["line 2"]
    assert b"ru-7" not in (tmp_path / "uploads" / f"{sha}.upload").read_bytes()


@pytest.mark.parametrize("name", ["../../etc/passwd", "", "a/b", "a.b"])
def test_a_name_never_leaves_the_folder(files: UploadFiles, name: str) -> None:
    """Hashes and ids alone."""
    with pytest.raises(InputError):
        list(files.lines(name))
    with pytest.raises(InputError):
        list(files.results(name))


def test_nothing_of_a_failed_write_stays(files: UploadFiles, tmp_path: Path) -> None:
    """A value that is no JSON, or a full disk."""
    with pytest.raises(TypeError):
        files.keep([{"label": object()}])
    assert names(tmp_path) == set()
