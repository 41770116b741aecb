"""The rollup equals the rows after whatever happens to them, also with several writers at once."""

from __future__ import annotations

import random
import threading
from typing import Any

import psycopg
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.migrations.conftest import call, chunk, insert, value

EQUAL = {"equal": True, "differing": [], "stale": False}
SOURCES = ("note", "profile", "photo", "summary", "conversation")

moments = st.none() | st.sampled_from(("2026-01-01T00:00:00Z", "2026-01-02T12:00:00Z", "2026-03-01T00:00:00+02:00"))
dates = st.none() | st.sampled_from(("2026-01-01", "2026-01-31", "2026-03-01"))
rows = st.fixed_dictionaries(
    {
        "dialog_key": st.sampled_from(("a", "b", "c")),
        "source": st.sampled_from(SOURCES),
        "client_id": st.sampled_from((None, "", "ru-1", "ru-2")),
        "woman_id": st.sampled_from((None, "tu-1", "tu-2")),
        "favorite_id": st.sampled_from(("", "f1", "f2")),
        "sent_at": moments,
        "note_date": dates,
        "created_at": moments.filter(bool),
        "updated_at": moments.filter(bool),
    }
)
where = st.sampled_from(
    ("true", "dialog_key = 'a'", "source = 'note'", "sent_at is null", "client_id = 'ru-2'", "note_date > '2026-01-15'")
)
changes = st.sampled_from(
    (
        "dialog_key = 'b'",
        "dialog_key = 'd'",
        "source = 'photo'",
        "client_id = null",
        "client_id = 'ru-9', woman_id = ''",
        "sent_at = '2025-12-31Z'",
        "note_date = null",
        "created_at = '2026-05-01Z'",
        "updated_at = '2024-01-01Z'",
        "updated_at = '2027-01-01Z'",
        "text = text || '!'",
        "text = text",
        "embedding_model = 'other'",
        "id = gen_random_uuid()",
    )
)
steps = st.lists(
    st.tuples(st.just("insert"), st.lists(rows, min_size=1, max_size=6))
    | st.tuples(st.just("upsert"), st.lists(rows, min_size=1, max_size=4))
    | st.tuples(st.just("update"), changes, where)
    | st.tuples(st.just("delete"), where)
    | st.tuples(st.just("truncate")),
    min_size=1,
    max_size=7,
)


def do(db: psycopg.Connection[Any], step: tuple[Any, ...], number: int) -> None:
    match step:
        case ("insert", new):
            insert(db, [chunk(**{**row, "text": f"{number}:{n}"}) for n, row in enumerate(new)])
        case ("upsert", new):
            for n, row in enumerate(new):
                given = chunk(**{**row, "content_hash": f"h{n}"})
                columns = ", ".join(given)
                db.execute(
                    f"insert into client_memory_chunks ({columns}) values ({', '.join(['%s'] * len(given))})"
                    " on conflict (dialog_key, content_hash) do update set"
                    " source = excluded.source, client_id = excluded.client_id, sent_at = excluded.sent_at",
                    list(given.values()),
                )
        case ("update", change, rows_of):
            if "dialog_key" in change:  # keys may move only where no hash is in the way
                change += ", content_hash = gen_random_uuid()::text"
            db.execute(f"update client_memory_chunks set {change} where {rows_of}")
        case ("delete", rows_of):
            db.execute(f"delete from client_memory_chunks where {rows_of}")
        case _:
            db.execute("truncate client_memory_chunks")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps)
def test_rollup_equals_rows(db: psycopg.Connection[Any], story: list[tuple[Any, ...]]) -> None:
    """After each of any inserts, upserts, updates, deletes and truncations."""
    db.execute("truncate client_memory_chunks")
    for number, step in enumerate(story):
        do(db, step, number)
        assert call(db, "desk_check_rollups") == EQUAL, step
    before = tables(db)
    call(db, "desk_rebuild_rollups")
    assert tables(db) == before


def tables(db: psycopg.Connection[Any]) -> list[list[tuple[Any, ...]]]:
    return [db.execute(f"table {name} order by 1, 2").fetchall() for name in ("desk_dialogs", "desk_dialog_sources")]


def test_content_of_a_dialog(db: psycopg.Connection[Any]) -> None:
    """Counts, first and last moment with a note's day at midnight UTC, ids of the newest row that has them."""
    insert(
        db,
        [
            chunk(text="1", client_id="old", created_at="2026-01-01T00:00:00Z", sent_at="2026-02-01T23:00:00Z"),
            chunk(text="2", client_id="new", created_at="2026-01-02T00:00:00Z", sent_at=None),
            chunk(text="3", client_id="", created_at="2026-01-03T00:00:00Z", sent_at=None),
        ],
    )
    insert(db, [chunk(text="4", source="note", woman_id="tu", note_date="2026-02-02", client_id=None)])
    insert(
        db,
        [chunk(text="5", source="note", note_date="2025-12-31", created_at="2025-01-01T00:00:00Z", client_id="older")],
    )
    row = value(db, "select row_to_json(d) from desk_dialogs d")
    assert (row["ru_id"], row["tu_id"], row["favorite_id"]) == ("new", "tu", None)
    assert (row["chunks"], row["sources"]) == (5, {"conversation": 3, "note": 2})
    assert row["last_at"].startswith("2026-02-02T00:00:00")
    assert row["first_at"].startswith("2025-12-31T00:00:00")
    assert call(db, "desk_check_rollups") == EQUAL


def test_an_empty_dialog_leaves_the_list(db: psycopg.Connection[Any]) -> None:
    """With its last chunk gone the dialog is gone."""
    insert(db, [chunk("gone"), chunk("stays")])
    db.execute("delete from client_memory_chunks where dialog_key = 'gone'")
    assert [r["dialog_key"] for r in call(db, "desk_dialog_list")["rows"]] == ["stays"]


def test_eight_writers(dsn: str) -> None:
    """Inserts, updates and deletes of eight connections over the same dialogs: no error, no deadlock, still equal."""
    errors: list[BaseException] = []

    def work(seed: int) -> None:
        dice = random.Random(seed)
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                for n in range(12):
                    keys = dice.sample("abcdef", 4)
                    insert(connection, [chunk(key, text=f"{seed}-{n}", client_id=f"ru-{seed}") for key in keys])
                    connection.execute(
                        "update client_memory_chunks set note_date = '2026-01-01' where text = %s", [f"{seed}-{n}"]
                    )
                    if n % 3 == 0:
                        connection.execute("delete from client_memory_chunks where text = %s", [f"{seed}-{n}"])
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    with psycopg.connect(dsn, autocommit=True) as connection:
        checked = call(connection, "desk_check_rollups")
        assert checked["equal"] or checked["stale"]  # a machine under load may let a wait run out, but never silently
        call(connection, "desk_rebuild_rollups")
        assert call(connection, "desk_check_rollups") == EQUAL


def test_a_late_commit_is_not_lost(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """A rebuild while another transaction has written and not committed: its rows are in, or the rollup stays stale."""
    other.execute("set lock_timeout = '5s'")
    insert(other, [chunk("late")])
    waiting = threading.Thread(target=lambda: call(db, "desk_rebuild_rollups"))
    waiting.start()
    other.commit()
    waiting.join()
    assert call(db, "desk_check_rollups") == EQUAL


def test_crossed_transactions(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """Two transactions that touch two dialogs in opposite order: neither is rolled back because of our rows."""
    db.execute("begin")
    insert(db, [chunk("a", text="1")])
    insert(other, [chunk("b", text="2")])
    insert(db, [chunk("b", text="3")])  # waits for half a second, then leaves a fault
    insert(other, [chunk("a", text="4")])
    db.execute("commit")
    other.commit()
    assert value(db, "select count(*) from client_memory_chunks") == 4
    assert call(db, "desk_check_rollups")["stale"]
    call(db, "desk_rebuild_rollups")
    assert call(db, "desk_check_rollups") == EQUAL


def test_rebuild_keeps_the_stamps(db: psycopg.Connection[Any]) -> None:
    """When an ingest last saw a source cannot be counted from rows, so a rebuild leaves it."""
    insert(db, [chunk()])
    db.execute("update desk_dialog_sources set last_ingest_at = '2026-01-01Z', chunks = 99")
    db.execute("update desk_dialogs set ru_id = 'wrong'")
    assert call(db, "desk_check_rollups")["differing"] == ["d1"]
    assert call(db, "desk_rebuild_rollups") == {"dialogs": 1, "sources": 1, "stale": False}
    assert value(db, "select last_ingest_at = '2026-01-01Z' and chunks = 1 from desk_dialog_sources")
