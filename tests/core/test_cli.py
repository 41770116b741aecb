"""The command line in this process, against the worker's server: what it prints, what it writes, how it ends."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from core.cli import main
from tests.support.dialogs import ODD_KEY, body

if TYPE_CHECKING:
    from core.bootstrap import Core

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def environment(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)


def dialogs() -> list[dict]:
    return [body(key, messages=2) for key in ("k1", "k2", ODD_KEY)]


def test_ingest_reads_json_lines_with_a_byte_order_mark(
    core: Core, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """BOM, CRLF and a blank line change nothing: the same dialogs and hashes as the plain file, so nothing is added."""
    lines = [json.dumps(dialog, ensure_ascii=False) for dialog in dialogs()]
    plain, marked = tmp_path / "plain.jsonl", tmp_path / "marked.jsonl"
    plain.write_text("\n".join(lines), encoding="utf-8")
    marked.write_bytes(b"\xef\xbb\xbf" + "\r\n".join([*lines, ""]).encode())
    assert main(["ingest", str(plain), "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert [line["added"] for line in first["results"]] == [10, 10, 10]
    assert main(["ingest", str(marked), "--json"]) == 0
    second = json.loads(capsys.readouterr().out)
    assert [(line["dialogKey"], line["added"], line["unchanged"]) for line in second["results"]] == [
        ("k1", 0, 10),
        ("k2", 0, 10),
        (ODD_KEY, 0, 10),
    ]
    assert core.dialogs.list().total == 3


def test_ingest_reads_standard_input(
    core: Core, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`-` is standard input; ids on the command line are explicit ones and give the tips key."""
    data = json.dumps(body(None, messages=1)).encode()
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    assert main(["ingest", "-", "--ru", "ru-1", "--tu", "tu-9"]) == 0
    assert "1 ingested, 0 failed: 9 chunks, 9 added" in capsys.readouterr().out
    assert core.status("ru-1", "tu-9").status.chunks == 9


def test_one_bad_file_does_not_stop_the_next_and_ends_with_1(
    core: Core, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each failure is named on stderr with its file; the good one is stored."""
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "nobody.json").write_text(json.dumps({"conversationJson": {"messages": []}}))
    (tmp_path / "good.json").write_text(json.dumps(body("k1")))
    files = [str(tmp_path / name) for name in ("missing.json", "bad.json", "nobody.json", "good.json")]
    assert main(["ingest", *files]) == 1
    printed = capsys.readouterr()
    assert "1 ingested, 3 failed" in printed.out
    for words in ("missing.json: No such file", "bad.json: Not read", "nobody.json: ruId and tuId are missing"):
        assert words in printed.err
    assert core.dialogs.status(["k1"])["k1"].chunks == 14


def test_search_prints_hits_with_their_parts(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """Rank, score = cosine + boost, source, date, text."""
    core.ingest.ingest(body("k1"))
    assert main(["search", "--dialog", "k1", "--limit", "2", "worries about trust"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith(" 1. ")
    assert "+ 0.18  note" in lines[0]
    assert "2026-05-10  He worries about trust." in lines[0]


def test_search_under_the_wrong_key_order_says_where_the_rows_are(
    core: Core, capsys: pytest.CaptureFixture[str]
) -> None:
    """--ru and --tu give the tips key; where only the other order has rows, its key is offered."""
    generic = core.ingest.ingest(body(None)).dialog_key
    assert main(["search", "--ru", "ru-1", "--tu", "tu-9", "trust"]) == 0
    assert f"14 chunks under the other key: --dialog {generic}" in capsys.readouterr().out


def test_search_as_json_is_the_apis_answer(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """One object, explained."""
    core.ingest.ingest(body(ODD_KEY))
    assert main(["search", "--dialog", ODD_KEY, "trust", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["dialogKey"], len(answer["results"]), answer["model"]) == (ODD_KEY, 12, "test:768")


def test_foreign_text_cannot_move_the_cursor(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """Escape sequences and direction overrides of somebody's message are not sent to the terminal."""
    message = {"id": 1, "body": "hi \x1b[2J\u202e there"}
    core.ingest.ingest({"dialogKey": "k1", "conversationJson": {"messages": [message]}})
    main(["search", "--dialog", "k1", "hi"])
    printed = capsys.readouterr().out
    assert "hi" in printed
    assert "\x1b" not in printed and "\u202e" not in printed


@pytest.mark.parametrize(
    "argv",
    [[], ["search", "q"], ["search", "--ru", "r", "q"], ["ingest"], ["unknown"], ["demo", "--load", "--remove"]],
    ids=str,
)
def test_wrong_usage_ends_with_2(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """argparse's own words on stderr, nothing on stdout."""
    assert main(argv) == 2
    printed = capsys.readouterr()
    assert printed.err and not printed.out


def test_an_error_is_two_lines_and_1(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What happened and what to do; with --json the API's form; never a traceback."""
    assert main(["search", "--dialog", "k1", "  "]) == 1
    assert (
        capsys.readouterr().err == "Failed: Neither query nor payload was sent.\n  Send query, or conversationJson.\n"
    )
    monkeypatch.setenv("PORT", "many")
    assert main(["status", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "config"
    assert "PORT" in error["hint"]


def test_status_counts_and_a_pairs_freshness(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """Without ids the whole memory, with both ids one pair."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    assert main(["status"]) == 0
    assert capsys.readouterr().out == "Ready: 14 chunks in 1 dialogs, table client_memory_chunks.\n"
    assert main(["status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"ready": True, "table": "client_memory_chunks", "totalChunks": 14}
    assert main(["status", "--ru", "ru-1", "--tu", "tu-9", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["counts"]["conversation"] == 6


def test_migrate_reports_an_embedded_database_as_up_to_date(
    endpoint: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """It migrated when it started: every file is recorded, none pending."""
    assert main(["migrate", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    files = list((ROOT / "supabase" / "migrations").glob("*.sql"))
    assert (report["applied"], report["pending"]) == (len(files), [])


def test_migrate_lists_what_a_hosted_database_lacks(
    embedded: object, endpoint, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over HTTP it can only look: nothing pending here, and no SUPABASE_DB_URL was needed to know."""
    monkeypatch.setenv("MEMORY_DESK_DATABASE", "hosted")
    monkeypatch.setenv("MEMORY_DESK_EMBEDDER", "auto")
    monkeypatch.setenv("SUPABASE_URL", endpoint.url)
    monkeypatch.setenv("SUPABASE_SERVICE_ROLE_KEY", endpoint.service_role_key)
    assert main(["migrate"]) == 0
    assert "0 pending" in capsys.readouterr().out
    assert main(["demo"]) == 1
    assert "embedded database alone" in capsys.readouterr().err


def test_health_prints_every_component(core: Core, capsys: pytest.CaptureFixture[str]) -> None:
    """A line per component, the whole as JSON, 0 while ok or degraded."""
    assert main(["health"]) == 0
    assert capsys.readouterr().out.startswith("Health: ")
    assert main(["health", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["status"] in ("ok", "degraded")


def test_a_second_process_shares_the_server(core: Core, env: Mapping[str, str]) -> None:
    """`python -m core` beside this process sees what this one wrote."""
    core.ingest.ingest(body("k1"))
    done = subprocess.run(
        [sys.executable, "-m", "core", "status"], cwd=ROOT, env={**env, "PATH": "/usr/bin:/bin"}, capture_output=True
    )
    assert (done.returncode, done.stdout.decode()) == (
        0,
        "Ready: 14 chunks in 1 dialogs, table client_memory_chunks.\n",
    )
    assert done.stderr == b""


def test_demo_data_is_loaded_and_removed(
    core: Core, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its state, a load into the empty database, a removal that is remembered; refused where it is switched off."""
    assert main(["demo", "--load"]) == 1
    assert "Demo data is off" in capsys.readouterr().err
    monkeypatch.setenv("MEMORY_DESK_DEMO", "on")
    assert main(["demo", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "absent"
    assert main(["demo", "--load", "--json"]) == 0
    loaded = json.loads(capsys.readouterr().out)
    assert (loaded["state"], loaded["done"]) == ("loaded", loaded["total"])
    assert core.dialogs.list().total >= 40
    assert main(["demo", "--remove"]) == 0
    assert "removed" in capsys.readouterr().out
    assert core.dialogs.list().total == 0
