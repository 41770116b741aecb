"""A person in the memory, and everything done with it: nothing of that in events, jobs, logs, errors and files."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api.routes import PREFIX, build_routes
from core.bootstrap import Core, build_core
from core.companion.act.missions.draft import MissionDraft
from core.companion.act.missions.rule_plans import RULE_PLANS
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.errors import CoreError
from core.events.actor import LOCAL_OPERATOR
from core.local.server import Endpoint
from core.memory.keys import both_keys, tips_key
from core.memory.requests import AcrossRequest, parse_search
from core.retrievals.record import WRONG
from core.services.veil import View
from tests.support.dialogs import body, message

NAME, EMAIL, PHONE = "Zlatoslava", "zlata.private@example.org", "+380671234599"
RU, TU, FAVORITE = "ru-5550123", "tu-9990456", "fav-7770321"
SAID = f"{NAME} wishes for a lighthouse, call {PHONE} or write {EMAIL}"
PERSONAL = (NAME, "lighthouse", EMAIL, "380671234599", RU, TU, FAVORITE)
KEY = tips_key(RU, TU)
FILE = f"{NAME}-{RU}.jsonl"
MISSION, TALK, QUESTION = (f"5a0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c00{n}" for n in range(3))
CLIENT = "http://127.0.0.1/"  # of the test itself, which says what it asks for; the product's requests have a port
REQUEST = "00000000-0000-4000-8000-00000000beef"


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint, tmp_path: Path) -> Iterator[Core]:
    """With a data folder of its own, whose files can be searched."""
    settings = read_settings({**env, "MEMORY_DESK_DATA_DIR": str(tmp_path / "data")})
    with build_core(settings, endpoint=endpoint, embedder=TestEmbedder()) as built:
        yield built


def person(**changes: Any) -> dict[str, Any]:
    """One dialog that names the person wherever a dialog can."""
    given = body(None, ruId=RU, tuId=TU, notes=[f"{NAME} likes tea."], **changes)
    favorite = given["conversationJson"]["favorite"]
    favorite |= {"id": FAVORITE, "clientId": RU, "operatorId": TU}
    favorite["profile"] |= {"name": NAME, "email": EMAIL, "main_photo": {"url": f"https://example.org/{NAME}.jpg"}}
    favorite["allMessages"].append(message(60, SAID))
    return given


def refused(act: Any) -> str:
    """What an error says, whole."""
    with pytest.raises(CoreError) as found:
        act()
    return json.dumps([str(found.value), found.value.hint, found.value.field, found.value.detail])


def memory(core: Core) -> None:
    core.ingest.ingest(person())
    core.ingest.ingest({**person(), "ruId": None, "tuId": None, "clientId": RU, "womanId": TU})
    core.search.search(parse_search({"ruId": RU, "tuId": TU, "query": SAID, "requestId": REQUEST}))
    core.search.across(AcrossRequest(SAID))
    core.usage.record(
        {
            "requestId": REQUEST,
            "dialogKey": KEY,
            "entries": [{"provider": "p", "model": "m", "phase": "x", "promptTokens": 7, "completionTokens": 2}],
        }
    )
    core.snapshots.capture_ingest(person())
    day = core.clock.now().date()
    core.snapshots.diff(KEY, day - timedelta(days=1), day)
    shots = core.snapshots.reads.entities(dialog_key=KEY).rows
    core.snapshots.pin(shots[0].id, "complaint", core.clock.now() + timedelta(days=5))


def jobs(core: Core) -> None:
    lines = [json.dumps(person()), "{broken " + SAID, json.dumps({**person(), "ruId": {"name": NAME}})]
    staged = core.intake.stage([(FILE, "\n".join(lines).encode()), (f"{NAME}.json", SAID.encode())])
    job = core.intake.start(staged, windows=False, capture=True)
    core.jobs.finish_here(job.id)
    found = list(core.intake.results(job.id))
    assert len(found) >= 2 and any("error" in row for row in found)


def tuning(core: Core) -> None:
    made = core.tuning.labels.create(f"about {NAME}", SAID)
    core.tuning.labels.add(made, KEY, [SAID], category="facts")
    sheet = core.tuning.labels.query_set(made)
    chunk = core.dialogs.chunks(KEY).rows[0].id
    core.tuning.labels.judge(sheet.queries[0].id, [chunk], 2, why=SAID)
    text = core.tuning.files.export(made, "jsonl")
    core.tuning.files.import_text(text, name=f"{NAME}.jsonl")


def mending(core: Core) -> None:
    one = next(row for row in core.retrievals.store.list().rows if row.results)
    core.retrievals.report(one.id, 1, next(iter(WRONG)))
    chunks = [row.id for row in core.dialogs.chunks(KEY).rows[:2]]
    assert core.corrections.exclude(chunks, "stale").count == 2
    core.corrections.restore(chunks)
    kept, dropped = both_keys(RU, TU)
    core.merges.preview(kept, dropped)
    core.merges.undo(core.merges.merge(kept, dropped).merge_id)


def companion(core: Core) -> None:
    plan = next(iter(RULE_PLANS))
    mission = MissionDraft(MISSION, "weekly look", SAID, SAID, planner="rules", template=plan)
    core.companion.missions.save(LOCAL_OPERATOR, mission)
    call = core.companion.act.executor.call
    for tool, given in (
        ("search_memory", {"dialog_key": KEY, "query": SAID}),
        ("resolve_dialog_key", {"ru_id": RU, "tu_id": TU}),
        ("no_such_tool", {"x": SAID}),
        ("merge_dialog_keys", {"kept": SAID, "dropped": NAME}),
    ):
        call(tool, given, actor=LOCAL_OPERATOR)
    core.companion.chat.ask(TALK, QUESTION, f"what of {SAID}?")


def looking(core: Core) -> None:
    core.veil.opened(KEY)
    core.veil.open(View("dialogs", KEY), f"ticket of {NAME} {EMAIL}")
    core.veil.exported(View("dialogs", KEY), "chunks", 3, revealed=True)


def api(core: Core) -> list[str]:
    """What a caller is told who may not see what is stored, and of calls that fail: the reason, and no value."""
    client = TestClient(
        Starlette(routes=build_routes(lambda: core)), base_url="http://127.0.0.1", client=("127.0.0.1", 5000)
    )
    told = []
    for path, given in (
        ("/memory/ingest", {**person(), "ruId": {"a": NAME}}),
        ("/memory/ingest", {"ruId": RU, "conversationJson": {"favorite": {"allMessages": SAID}}}),
        ("/memory/ingest", {**person(), "composeMode": SAID, "photoUrl": {"x": NAME}}),
        ("/memory/search", {"ruId": RU, "tuId": TU, "query": {"x": SAID}}),
        ("/memory/search", {"ruId": RU, "tuId": TU, "query": SAID, "limit": SAID}),
        ("/status", {"ruId": [RU], "tuId": {"x": TU}}),
        ("/usage", {"requestId": SAID, "entries": [{"provider": {"x": NAME}}]}),
        ("/snapshots", {"ruId": RU, "entities": SAID}),
    ):
        answer = client.post(f"{PREFIX}{path}", json=given)
        assert answer.status_code != 500, (path, answer.text)
        if answer.status_code >= 400:
            told.append(answer.text)
    answer = client.get(f"{PREFIX}/snapshots/diff", params={"dialogKey": KEY, "from": SAID, "to": NAME})
    assert answer.status_code >= 400
    assert len(told) >= 5
    return [*told, answer.text]


def everything(core: Core) -> list[str]:
    """Do it all; what errors said."""
    memory(core)
    jobs(core)
    tuning(core)
    mending(core)
    companion(core)
    looking(core)
    said = api(core)
    said += [
        refused(lambda: core.ingest.ingest({**person(), "ruId": {"name": NAME}})),
        refused(lambda: parse_search({"ruId": RU, "tuId": TU, "query": SAID, "limit": SAID})),
        refused(lambda: core.intake.stage([(FILE, SAID.encode())])),
        refused(lambda: core.tuning.labels.judge(NAME, [NAME], 9, why=SAID)),
        refused(lambda: core.tuning.files.import_text(SAID, name=FILE)),
        refused(lambda: core.corrections.exclude([NAME], SAID)),
        refused(lambda: core.merges.merge(SAID, NAME)),
        refused(lambda: core.snapshots.pin(NAME, SAID, core.clock.now())),
        refused(lambda: core.veil.open(View("dialogs", KEY), "x")),
    ]
    core.erasures.preview(KEY)
    assert core.events.flush(10)
    return said


def rows_of(dsn: str, *tables: str) -> str:
    with psycopg.connect(dsn) as connection:
        return "\n".join(
            str(row[0]) for table in tables for row in connection.execute(f"select to_jsonb(x)::text from {table} x")
        )


def named(text: str) -> list[str]:
    plain = text.encode().decode("unicode_escape", "replace") if "\\u" in text else text
    return [word for word in PERSONAL if word in text or word in plain]


def lines(text: str) -> list[str]:
    """Those that name something."""
    return [line for line in text.splitlines() if named(line)]


def files(folder: Path) -> dict[str, list[str]]:
    """What is named in files and in their names."""
    found = {}
    for path in folder.rglob("*"):
        where = str(path.relative_to(folder))
        content = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        if hits := named(where + content):
            found[where] = hits
    return found


def test_nothing_of_a_person_stays_where_it_does_not_belong(
    desk: Core, dsn: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Events, jobs, logs, errors, and all that our own folder holds once the work is done."""
    caplog.set_level(logging.INFO)
    said = everything(desk)
    logs = "\n".join(
        f"{r.name} {r.getMessage()} {r.exc_text or ''}" for r in caplog.records if CLIENT not in r.getMessage()
    )
    places = {
        "errors": "\n".join(said),
        "events": rows_of(dsn, "companion_events"),
        "jobs": rows_of(dsn, "desk_jobs"),
        "proposals": rows_of(dsn, "companion_proposals"),
        "logs": logs,
    }
    assert {where: lines(text) for where, text in places.items() if named(text)} == {}
    assert files(desk.settings.data_dir) == {}
    assert places["events"].count("\n") > 20 and "PersonalDataRevealed" in places["events"]


def test_an_erasure_leaves_nothing_either(desk: Core, dsn: str) -> None:
    """Neither in the log nor on the disk; that there was one stays."""
    everything(desk)
    desk.erasures.erase(KEY, "request", also=[both_keys(RU, TU)[1]])
    assert desk.events.flush(10)
    assert KEY not in rows_of(dsn, "companion_events") and "DialogErased" in rows_of(dsn, "companion_events")
    assert lines(rows_of(dsn, "companion_events", "desk_jobs", "client_memory_chunks")) == []
    assert files(desk.settings.data_dir) == {}
