"""The Operations page: ingest, re-embed, clean up, jobs; empty, full, broken; one decision acts once."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from typing import Any

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.jobs.jobs import Jobs
from tests.pages.conftest import FRAME, ODD, ROOT, calm, texts
from tests.support.dialogs import SpyEmbedder, body, message

Open = Callable[..., AppTest]


def given(*bodies: Mapping[str, Any]) -> bytes:
    return "\n".join(json.dumps(b) for b in bodies).encode()


def upload(at: AppTest, *files: tuple[str, bytes]) -> AppTest:
    at.file_uploader[0].set_value([(name, data, "application/json") for name, data in files]).run()
    return calm(at)


def section(open_page: Open, name: str, **options: Any) -> AppTest:
    at = open_page("operations", **options)
    return at.segmented_control(key="section").set_value(name).run()


def settle(core: Core) -> None:
    """Until no job is alive."""
    deadline = time.monotonic() + 30
    while core.jobs.list(live=True).total and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not core.jobs.list(live=True).total


def table(at: AppTest, column: str) -> Any:
    return next(d.value for d in at.dataframe if column in d.value)


def test_the_address_holds_a_short_code(core: Core, open_page: Open) -> None:
    """A link opens its section by a code that no wording changes; one of another version opens the first."""
    at = section(open_page, "jobs")
    assert at.query_params["section"] in ("jobs", ["jobs"])
    for code, words in (("cleanup", "No snapshot is expired"), ("of-another-version", "Dialogs to ingest")):
        at = AppTest.from_file(FRAME, default_timeout=60)
        at.switch_page(str(ROOT / "pages" / "operations.py"))
        at.query_params["section"] = code
        assert words in texts(calm(at.run()))


def test_the_ways_from_a_dialog_lead_to_their_section(stored: Core, open_page: Open) -> None:
    """Also where another section was looked at before."""
    from core.memory.keys import both_keys

    at = section(open_page, "jobs", session={"desk.dialog": (both_keys("ru-1", "tu-9")[0], "ru-1", "tu-9")})
    at.switch_page(str(ROOT / "pages" / "dialogs.py")).run()
    at.button(key="to-erase").click().run()
    assert at.segmented_control(key="section").value == "erase"
    assert "Erase a person" in texts(calm(at))


def test_the_end_of_a_job_is_said(core: Core, open_page: Open) -> None:
    """Whoever started it learns what came of it, once, without looking for it."""
    at = upload(open_page("operations"), ("chat.json", given(body("k1"))))
    at.button(key="ingest-start").click().run()
    assert "The ingest of 1 dialog was started" in texts(calm(at))
    settle(core)
    said = texts(calm(at.run()))
    if "Ingest, done: dialogs 1" not in said:  # told with the start already, where it was that quick
        assert not at.session_state["desk.kept.jobs.watched"]
    assert "Ingest, done" not in texts(calm(at.run()))


def test_a_dialog_without_a_text_is_said_to_write_nothing(core: Core, open_page: Open) -> None:
    """In the preview, and in the result of the job."""
    at = upload(open_page("operations"), ("chat.json", given({"ruId": "r", "tuId": "t", "conversationJson": {}})))
    assert "Nothing to write" in table(at, "unchanged")["why"][0]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("ingest", "Nothing is written before you have seen"),
        ("reembed", "Nothing to embed again"),
        ("cleanup", "No snapshot is expired"),
        ("jobs", "No job has run yet"),
    ],
)
def test_empty_says_why(core: Core, open_page: Open, name: str, words: str) -> None:
    """A fresh database: each section stands, and says what it is for."""
    assert words in texts(calm(section(open_page, name)))


def test_an_upload_is_previewed_and_ingested_once(core: Core, open_page: Open) -> None:
    """Chosen, looked at, started: one job, whatever is pressed or drawn again (case 24)."""
    at = upload(open_page("operations"), ("chat.jsonl", given(body("k1"), body("k2"), {"conversationJson": []})))
    preview = table(at, "unchanged")
    assert list(preview["new"])[:2] == [14, 14] and "refused" in preview["why"][2]
    assert core.dialogs.list().total == 0, "nothing is written by looking"
    at.checkbox(key="capture").check().run()
    at.run()
    assert core.jobs.list().total == 0 and core.dialogs.list().total == 0
    at.button(key="ingest-start").click().run()
    assert "was started" in texts(calm(at))
    settle(core)
    at.run()
    at.run()
    assert core.jobs.list().total == 1
    job = core.jobs.list().rows[0]
    assert job.result and (job.result["dialogs"], job.result["refused"]) == (2, 1)
    assert job.actor["principal_id"] == "local"


def test_the_upload_survives_a_change_of_page_and_is_not_read_again(core: Core, open_page: Open) -> None:
    """Away and back: still there, still nothing written; the file was read once."""
    from tests.pages.conftest import ROOT

    at = upload(open_page("operations"), ("chat.json", given(body("k1"))))
    files = sorted((core.settings.data_dir / "uploads").iterdir())
    at.switch_page(str(ROOT / "pages" / "overview.py")).run()
    at.switch_page(str(ROOT / "pages" / "operations.py")).run()
    assert list(table(calm(at), "unchanged")["new"]) == [14]
    assert sorted((core.settings.data_dir / "uploads").iterdir()) == files
    assert core.jobs.list().total == 0


def test_the_same_in_two_tabs_says_that_it_runs(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second press starts nothing and says so."""
    monkeypatch.setattr("core.jobs.worker.Worker.run_one", lambda self, id=None: None)
    first = upload(open_page("operations"), ("chat.json", given(body("k1"))))
    second = upload(open_page("operations"), ("chat.json", given(body("k1"))))
    first.button(key="ingest-start").click().run()
    second.button(key="ingest-start").click().run()
    assert "was started" in texts(calm(first))
    assert "this runs already" in texts(calm(second))
    assert core.jobs.list().total == 1


def test_a_running_job_is_shown_on_every_section_and_can_be_stopped(
    core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its progress, an estimate marked as one, and the stop."""
    monkeypatch.setattr("core.jobs.worker.Worker.run_one", lambda self, id=None: None)  # no worker takes it from us
    core.jobs.register("of_a_test", lambda run: {}, action="ingest", title="Of a test")
    job = core.jobs.start("of_a_test", {})
    assert core.jobs._store.claim("somebody", ["of_a_test"], core.jobs._place, 60)
    time.sleep(0.05)
    from core.jobs.store import Progress

    core.jobs._store.beat(job.id, "somebody", 60, Progress(2, 10, "Dialog 3 of 10"))
    for name in ("ingest", "reembed", "jobs"):
        said = texts(calm(section(open_page, name)))
        assert "Dialog 3 of 10" in said and "2 of 10 steps" in said and "left (estimate)" in said
    at = section(open_page, "jobs")
    at.button(key=f"stop-{job.id}").click().run()
    assert core.jobs.get(job.id).state == "cancelling"
    calm(at)


def test_too_many_messages_are_warned_of_and_windows_lose_none(core: Core, open_page: Open) -> None:
    """100 messages: the choice, the number that would be lost, and all of them stored."""
    at = upload(open_page("operations"), ("chat.json", given(body("k1", messages=100))))
    said = texts(at)
    assert "would be lost" in said and "20 earlier messages" in said
    assert list(table(at, "unchanged")["new"]) == [108]
    at.radio[0].set_value("latest").run()
    assert list(table(calm(at), "unchanged")["new"]) == [88]
    at.radio[0].set_value("windows").run()
    at.button(key="ingest-start").click().run()
    settle(core)
    assert core.dialogs.status(["k1"])["k1"].counts["conversation"] == 100


def test_odd_texts_come_out_as_they_are(core: Core, open_page: Open) -> None:
    """In the preview of a dialog's chunks."""
    request = body("k1", messages=0)
    request["conversationJson"]["favorite"]["allMessages"] = [message(1, ODD)]
    at = upload(open_page("operations"), ("chat.json", given(request)))
    assert ODD in list(table(at, "source_id")["text"])


def test_pasted_text_and_what_is_no_json(core: Core, open_page: Open) -> None:
    """Read at a press of the button; what cannot be read says why and changes nothing."""
    at = open_page("operations")
    at.segmented_control(key="origin").set_value("paste").run()
    at.text_area[0].set_value("no json at all")
    at.button(key="FormSubmitter:paste-form-0-Read it").click().run()
    assert "this is not JSON" in texts(calm(at))
    at.text_area[0].set_value(json.dumps(body("k1")))
    at.button(key="FormSubmitter:paste-form-0-Read it").click().run()
    assert list(table(calm(at), "unchanged")["new"]) == [14]
    at.button(key="ingest-discard").click().run()
    assert not [d for d in calm(at).dataframe if "unchanged" in d.value]
    assert not list((core.settings.data_dir / "uploads").iterdir())


def test_a_snapshot_is_matched_with_memory_first(core: Core, open_page: Open) -> None:
    """Its messages that are stored keep their id: the ingest adds what is new alone."""
    core.ingest.ingest(body(None, messages=3, ruId="ru-1", tuId="tu-9"))
    core.snapshots.capture(
        {
            "ruId": "ru-1",
            "tuId": "tu-9",
            "dialog": [
                {"date": message(n)["sent_at"], "initiator": "ru" if n % 2 else "tu", "text": message(n)["body"]}
                for n in (1, 2, 3, 4)
            ],
        }
    )
    key = core.dialogs.list().rows[0].dialog_key
    at = open_page("operations", session={"desk.dialog": (key, "ru-1", "tu-9")})
    at.segmented_control(key="origin").set_value("snapshot").run()
    at.button(key="snapshot-take").click().run()
    assert "3 of 4 are stored already" in texts(calm(at))
    found = table(at, "unchanged")
    assert (list(found["new"]), list(found["unchanged"])) == ([1], [3])


def test_reembed_says_what_it_takes_and_does_it(core: Core, open_page: Open) -> None:
    """Rows of another model: counted, estimated, embedded again by a job, and searchable then."""
    other = SpyEmbedder("other:768")
    core.embedder._fixed = other
    core.ingest.ingest(body("k1"))
    core.embedder._fixed = None
    at = section(open_page, "reembed")
    figures = {m.label: m.value for m in calm(at).metric}
    assert figures["Chunks"] == "14" and figures["Tokens"].startswith("~") and figures["Cost"] == "free"
    assert figures["Time"] == "not measured"
    at.button(key="reembed-measure").click().run()
    assert {m.label: m.value for m in calm(at).metric}["Time"].startswith("~")
    at.button(key="reembed-start").click().run()
    assert "was started" in texts(calm(at))
    settle(core)
    assert core.dialogs.overview().by_model == {"test:768": 14}


def test_cleanup_asks_first_and_deletes_what_is_expired(core: Core, open_page: Open, dsn: str) -> None:
    """The number before, the question, the job, the number after."""
    core.snapshots.capture({"ruId": "r", "tuId": "t", "notes": [{"text": "a", "date": "2026-01-01"}, {"text": "b"}]})
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute("update tips_daily_entity_snapshots set expires_at = now() - interval '1 day' where text = 'a'")
    at = section(open_page, "cleanup")
    assert {m.label: m.value for m in calm(at).metric}["Expired"] == "1"
    at.button(key="cleanup-ask").click().run()
    assert "cannot be undone" in texts(calm(at)) and core.jobs.list().total == 0
    at.button(key="cleanup-start").click().run()
    assert "was started" in texts(calm(at))
    settle(core)
    assert core.jobs.list().rows[0].result == {**(core.jobs.list().rows[0].result or {}), "deleted": 1}
    assert core.db.count("tips_daily_entity_snapshots") == 1


def test_an_ended_job_shows_its_result_and_the_refused(core: Core, open_page: Open) -> None:
    """Figures of the job, a line per dialog, a file of those that were refused."""
    staged = core.intake.stage([("chat.jsonl", given(body("k1"), {"conversationJson": [message(1, "a secret")]}))])
    job = core.intake.start(staged, windows=False)
    settle(core)
    at = section(open_page, "jobs")
    assert list(table(calm(at), "summary")["state"]) == ["done"]
    at.session_state[f"jobs-1-{job.id}"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    results = table(calm(at), "outcome")
    assert list(results["outcome"]) == ["written", "refused"]
    assert {m.label: m.value for m in at.metric}["Refused"] == "1"
    assert at.get("download_button") and "a secret" not in texts(at)
    assert job.id in texts(at)


def test_broken_says_what_failed(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """The jobs cannot be read: said so, and not "no job has run"."""

    def refuse(self: Jobs, **_: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.", hint="Open Health.")

    monkeypatch.setattr(Jobs, "list", refuse)
    said = texts(calm(section(open_page, "jobs")))
    assert "cannot be shown" in said and "Can't reach the memory database." in said
    assert "No job has run yet" not in said
