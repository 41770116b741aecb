"""An upload from the file to memory: read once, previewed, ingested by a job that can be stopped and taken up."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
import uuid
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.errors import BadEmbedding, InputError, ProviderUnavailable
from core.jobs.job import JobRunning
from core.memory.notices import Notice
from core.services.intake import KIND, Staged
from tests.support.dialogs import BrokenEmbedder, SpyEmbedder, body, message

if TYPE_CHECKING:
    from core.local.server import Endpoint

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint) -> Any:
    """A core whose thread takes no jobs: each test does them itself."""
    with build_core(read_settings(env), endpoint=endpoint, embedder=SpyEmbedder(), background=False) as core:
        yield core


def as_lines(*bodies: Any) -> bytes:
    return "\n".join(json.dumps(b, ensure_ascii=False) for b in bodies).encode()


def stage(core: Core, *bodies: Any) -> Staged:
    return core.intake.stage([("chat.jsonl", as_lines(*bodies))])


def folder(core: Core) -> set[str]:
    return {path.name for path in (core.settings.data_dir / "uploads").iterdir()}


def test_the_same_dialogs_with_and_without_a_byte_order_mark(desk: Core) -> None:
    """BOM, CRLF and a blank last line: the same file on disk, so the same dialogs, chunks and hashes (case 1a)."""
    lines = [json.dumps(body(key), ensure_ascii=False) for key in ("k1", "k2", "k3")]
    plain = desk.intake.stage([("a.jsonl", "\n".join(lines).encode())])
    marked = desk.intake.stage([("a.jsonl", b"\xef\xbb\xbf" + "\r\n".join([*lines, ""]).encode())])
    assert plain.sha == marked.sha and plain.dialogs == 3


def test_a_zip_packed_on_a_mac(desk: Core) -> None:
    """Three dialogs; side files are neither data nor refused (case 1b)."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, key in (("d1.json", "k1"), ("d2.json", "k2"), ("sub/d3.json", "k3")):
            archive.writestr(name, json.dumps(body(key)))
        archive.writestr("__MACOSX/._d1.json", b"\0\5\26\7")
        archive.writestr(".DS_Store", b"\0\0\0\1Bud1")
    staged = desk.intake.stage([("mac.zip", packed.getvalue())])
    done = desk.jobs.finish_here(desk.intake.start(staged, windows=False).id)
    assert (done.result or {})["dialogs"] == 3 and (done.result or {})["refused"] == 0
    assert desk.intake.refused(done.id) == []


def test_a_preview_says_what_each_dialog_would_do(desk: Core) -> None:
    """New, unchanged, refused with the reason, the key used and why; nothing is embedded or written."""
    desk.ingest.ingest(body("k1"))
    spy = desk.embedder()
    assert isinstance(spy, SpyEmbedder)
    embedded = len(spy.texts)
    staged = stage(desk, body("k1"), body("k2", messages=100), {"conversationJson": {"messages": []}})
    known, new, refused = desk.intake.preview(staged.sha, windows=False)
    assert known.preview and known.preview.count("unchanged") == 14 and known.preview.count("new") == 0
    assert new.preview and new.preview.count("new") == 88 and (new.windows, new.older) == (2, 20)
    assert any(notice.kind == "limit" for notice in new.preview.notices)
    assert refused.refused and refused.refused.code == "missing_identity"
    assert (staged.dialogs, staged.windows, staged.long, staged.older) == (3, 4, 1, 20)
    assert [p.label for p in desk.intake.preview(staged.sha, windows=False, start=1, limit=1)] == ["file 1, line 2"]
    in_windows = desk.intake.preview(staged.sha, windows=True, start=1, limit=1)[0].preview
    assert in_windows and in_windows.count("new") == 108
    assert len(spy.texts) == embedded and desk.dialogs.list().total == 1


def test_the_job_writes_every_dialog_and_names_the_refused(desk: Core) -> None:
    """One refused dialog does not stop the others; its file names code and field, and no text."""
    staged = desk.intake.stage(
        [
            ("chat.jsonl", as_lines(body("k1"), {"conversationJson": {"messages": [{"body": "secret"}]}}, body("k2"))),
            ("notes.txt", b"just words"),
        ]
    )
    done = desk.jobs.finish_here(desk.intake.start(staged, windows=False).id)
    assert done.state == "done" and (done.done, done.total) == (4, 4)
    assert done.result == {
        "dialogs": 2,
        "refused": 2,
        "chunks": 28,
        "added": 28,
        "unchanged": 0,
        "reembedded": 0,
        "warnings": 0,
    }
    refused = desk.intake.refused(done.id)
    assert [(row["label"], row["code"]) for row in refused] == [
        ("file 1, line 2", "missing_identity"),
        ("file 2", "unreadable"),
    ]
    assert refused[0]["field"] == "ruId" and "secret" not in json.dumps(refused)
    assert [row.get("dialogKey") for row in desk.intake.results(done.id)] == ["k1", None, "k2", None]


def test_the_row_of_the_job_holds_hash_and_counts_alone(desk: Core) -> None:
    """No file name, no key, no text."""
    staged = desk.intake.stage([("Olena and Taras.json", json.dumps(body("k-secret")).encode())])
    done = desk.jobs.finish_here(desk.intake.start(staged, windows=False).id)
    row = json.dumps(desk.db.sample("desk_jobs", "*", order="id", limit=1, where={"id": done.id}))
    assert staged.sha in row
    for personal in ("Olena", "k-secret", "ru-1", "tu-9", "message number"):
        assert personal not in row


def test_uploads_go_when_the_job_ends(desk: Core) -> None:
    """Done or cancelled; the results stay."""
    first = desk.intake.start(stage(desk, body("k1")), windows=False)
    desk.jobs.finish_here(first.id)
    assert folder(desk) == {f"{first.id}.results"}
    second = desk.intake.start(stage(desk, body("k2")), windows=False)
    desk.jobs.cancel(second.id)
    assert folder(desk) == {f"{first.id}.results"}
    staged = stage(desk, body("k3"))
    desk.intake.discard(staged.sha)
    assert folder(desk) == {f"{first.id}.results"}
    with pytest.raises(InputError, match="no longer kept"):
        desk.intake.start(staged, windows=False)
    assert desk.jobs.list(live=True).total == 0


def test_one_click_is_one_job(desk: Core) -> None:
    """The same form twice is the same job; the file from another tab says that it runs; later decisions are new."""
    staged, form = stage(desk, body("k1")), str(uuid.uuid4())
    first = desk.intake.start(staged, windows=False, id=form)
    assert desk.intake.start(staged, windows=False, id=form).id == first.id == form
    other = stage(desk, body("k1"))
    with pytest.raises(JobRunning) as busy:
        desk.intake.start(other, windows=False, id=str(uuid.uuid4()))
    assert busy.value.job.id == form
    assert desk.jobs.finish_here(form).state == "done"
    staged_again = stage(desk, body("k1"))
    assert desk.intake.start(staged_again, windows=False, id=form).state == "done", "an old form decides nothing new"
    again = desk.jobs.finish_here(desk.intake.start(staged_again, windows=False).id)
    assert (again.result or {})["unchanged"] == 14
    assert not [name for name in folder(desk) if name.endswith(".upload")]


def test_windows_lose_no_message(desk: Core) -> None:
    """200 messages plainly: 80 stored. In windows: all of them, and the counts say so."""
    staged = stage(desk, body("k1", messages=200))
    plain = desk.jobs.finish_here(desk.intake.start(staged, windows=False).id)
    assert desk.dialogs.status(["k1"])["k1"].counts["conversation"] == 80
    again = desk.intake.start(stage(desk, body("k1", messages=200)), windows=True)
    done = desk.jobs.finish_here(again.id)
    assert desk.dialogs.status(["k1"])["k1"].counts["conversation"] == 200
    assert (plain.total, done.total, done.done) == (1, 3, 3)
    assert done.result and (done.result["chunks"], done.result["added"], done.result["unchanged"]) == (208, 120, 88)
    assert next(iter(desk.intake.results(done.id)))["ingests"] == 3


def test_a_preview_of_very_many_windows_is_cut_and_says_so(desk: Core) -> None:
    """1,200 messages are 15 windows, 12 of them are looked at; the number of both is told."""
    request = body("k1", messages=0)
    request["conversationJson"]["favorite"]["allMessages"] = [
        {**message(1), "id": f"m{n}", "sent_at": 1_790_000_000 + n} for n in range(1200)
    ]
    staged = stage(desk, request)
    found = desk.intake.preview(staged.sha, windows=True)[0]
    assert (found.windows, found.previewed, found.older) == (15, 12, 1120)
    assert found.preview and found.preview.count("new") == 12 * 80 + 8


def test_windows_stay_under_one_key(desk: Core) -> None:
    """A pair that has rows under the generic key gets all its windows there."""
    desk.ingest.ingest(body(None, messages=1, clientId="ru-1", womanId="tu-9"))
    staged = stage(desk, body(None, messages=100, ruId="ru-1", tuId="tu-9"))
    desk.jobs.finish_here(desk.intake.start(staged, windows=True).id)
    assert desk.dialogs.list().total == 1


def test_a_stop_between_dialogs_and_a_second_job(desk: Core) -> None:
    """What was written stays; the results say how far it got; a new start writes the rest."""
    bodies = [body(f"k{n}") for n in range(5)]
    job = desk.intake.start(stage(desk, *bodies), windows=False)
    spy = desk.embedder()
    assert isinstance(spy, SpyEmbedder)
    spy.before = lambda: desk.jobs.cancel(job.id) if len(spy.batches) == 2 else None
    stopped = desk.jobs.finish_here(job.id)
    spy.before = None
    assert stopped.state == "cancelled" and stopped.result
    assert stopped.result["dialogs"] == desk.dialogs.list().total < 5
    done = desk.jobs.finish_here(desk.intake.start(stage(desk, *bodies), windows=False).id)
    assert (done.result or {})["dialogs"] == 5 and desk.dialogs.list().total == 5


def test_a_stop_within_a_dialog_counts_the_windows_that_were_written(desk: Core) -> None:
    """The result of the job does not say that nothing was added while rows are there."""
    job = desk.intake.start(stage(desk, body("k1", messages=200)), windows=True)
    spy = desk.embedder()
    assert isinstance(spy, SpyEmbedder)
    asked: list[object] = []
    spy.before = lambda: None if asked else asked.append(desk.jobs.cancel(job.id))
    stopped = desk.jobs.finish_here(job.id)
    spy.before = None
    assert stopped.state == "cancelled" and stopped.result and stopped.result["dialogs"] == 0
    assert stopped.result["added"] == desk.dialogs.status(["k1"])["k1"].chunks > 0


def test_one_dialog_that_the_model_refuses(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """It is refused with the embedder's code; when that happens to three in a row, the job fails instead."""
    with build_core(
        read_settings(env), endpoint=endpoint, embedder=BrokenEmbedder(BadEmbedding("Not finite.")), background=False
    ) as core:
        two = core.jobs.finish_here(core.intake.start(stage(core, body("k1"), body("k2")), windows=False).id)
        assert two.state == "done" and [r["code"] for r in core.intake.refused(two.id)] == ["bad_embedding"] * 2
        many = [body(f"k{n}") for n in range(9)]
        failed = core.jobs.finish_here(core.intake.start(stage(core, *many), windows=False).id)
        assert failed.state == "failed" and (failed.error or {})["code"] == "bad_embedding"


def test_an_embedder_that_is_away_is_waited_for(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """No dialog is refused for it: the job goes back into the queue and begins at this dialog again."""
    with build_core(
        read_settings(env), endpoint=endpoint, embedder=BrokenEmbedder(ProviderUnavailable("Away.")), background=False
    ) as core:
        job = core.intake.start(stage(core, body("k1")), windows=False)
        core.jobs._worker.run_one()
        waiting = core.jobs.get(job.id)
        assert (waiting.state, waiting.done) == ("queued", 0)
        assert (waiting.error or {})["code"] == "embedder_unavailable"
        assert list(core.intake.results(job.id)) == []


def test_a_snapshot_beside_the_ingest_never_fails_it(desk: Core) -> None:
    """Ticked, each dialog is captured under the key of its chunks; a failure is a warning of its result."""
    staged = stage(desk, body(None, ruId="ru-1", tuId="tu-9"))
    done = desk.jobs.finish_here(desk.intake.start(staged, windows=False, capture=True).id)
    assert done.state == "done" and desk.db.count("tips_daily_entity_snapshots") > 0
    desk.jobs._kinds[KIND].handler._capture = lambda *_: Notice("snapshots", "No snapshot was written.")
    again = desk.jobs.finish_here(desk.intake.start(stage(desk, body("k2")), windows=False, capture=True).id)
    assert next(iter(desk.intake.results(again.id)))["warnings"] == [
        {"field": "snapshots", "message": "No snapshot was written."}
    ]


def test_nothing_readable_is_refused_with_the_reason(desk: Core) -> None:
    """Empty, damaged, or pasted words."""
    for files in ([("a.json", b"")], [("a.zip", b"PK\x03\x04")], []):
        with pytest.raises(InputError, match="No dialog could be read"):
            desk.intake.stage(files)
    with pytest.raises(InputError):
        desk.intake.stage_text("hello")
    assert desk.intake.stage_text(json.dumps(body("k1"))).dialogs == 1


def test_killed_in_the_middle_the_next_process_goes_on(env: Mapping[str, str], desk: Core, dsn: str) -> None:
    """kill -9 of the process that ingests: another one takes the job up; every dialog is there once."""
    keys = [f"k{n:02}" for n in range(40)]
    job = desk.intake.start(stage(desk, *(body(key, messages=60) for key in keys)), windows=False)
    code = (
        "from core.cli.memory import open_core\nfrom core.events import run_as, system\nimport time\n"
        "with run_as(system('bootstrap')), open_core() as c: c.jobs.work(); time.sleep(90)\n"
    )
    other = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **env})
    deadline = time.monotonic() + 60
    while desk.jobs.get(job.id).done < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    os.kill(other.pid, signal.SIGKILL)
    other.wait()
    broken = desk.jobs.get(job.id)
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute("update desk_jobs set lease_until = now()")  # as after half a minute
    assert broken.state == "running" and 3 <= broken.done < 40
    done = desk.jobs.finish_here(job.id)
    assert done.state == "done" and (done.result or {})["dialogs"] == 40
    assert [row["label"] for row in desk.intake.results(job.id)] == [f"file 1, line {n}" for n in range(1, 41)]
    assert desk.dialogs.list().total == 40 and desk.dialogs.check_rollups()["equal"]
    assert desk.dialogs.overview().chunks == 40 * 68
    assert done.kind == KIND
