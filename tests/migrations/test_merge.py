"""desk_merge_dialog_keys and desk_undo_merge: every table, hashes anew, the newer row stays, and exactly back."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, chunk, insert, value
from tests.support.dialogs import ODD_KEY

DB = psycopg.Connection[Any]
OLD, NEW = "2026-05-01T10:00:00+00:00", "2026-06-01T10:00:00+00:00"
# What a move may change: our own mark of a row's version, and what triggers note about the log.
VOLATILE = ("desk_snapshot_origins", "desk_meta", "desk_merges", "desk_merge_rows", "companion_events")


def event(type: str = "DialogKeysMerged") -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()), "class": "audit", "type": type, "payload": {}, "app_id": "memory",
        "ts": datetime.now(UTC).isoformat(), "actor": {"kind": "user", "principal_id": "op", "display_name": "op"},
    }  # fmt: skip


def rows(db: DB) -> dict[str, list[str]]:
    """Every row of every table of ours, as JSON."""
    found = {}
    names = [r[0] for r in db.execute("select tablename from pg_tables where schemaname = 'public' order by 1")]
    for name in names:
        if name not in VOLATILE:
            found[name] = sorted(
                json.dumps(r[0], sort_keys=True)
                for r in db.execute(f"select to_jsonb(t) - 'recorded_at' from {name} t")
            )
    return found


def merge(db: DB, kept: str = "kept", dropped: str = "dropped", mode: str = "move") -> dict[str, Any]:
    answer: dict[str, Any] = call(
        db, "desk_merge_dialog_keys", p_kept=kept, p_dropped=dropped, p_mode=mode, p_event=event()
    )
    return answer


def undo(db: DB, merge_id: str) -> dict[str, Any]:
    answer: dict[str, Any] = call(db, "desk_undo_merge", p_id=merge_id, p_event=event("MergeUndone"))
    return answer


def texts(db: DB, key: str) -> list[str]:
    return [r[0] for r in db.execute("select text from client_memory_chunks where dialog_key = %s order by 1", [key])]


def fill(db: DB, kept: str = "kept", dropped: str = "dropped") -> None:
    """Both keys of a pair in every table that names one; one chunk and one snapshot stand under both."""
    both = {"client_id": "ru", "woman_id": "tu", "source": "note", "created_at": OLD}
    insert(db, [
        chunk(kept, source_id="n1", text="equal", updated_at=NEW, **both),
        chunk(kept, source_id="n2", text="equal too", updated_at=OLD, **both),
        chunk(kept, source_id="n3", text="only kept", updated_at=OLD, **both),
        chunk(dropped, source_id="n1", text="equal", updated_at=OLD, **both),
        chunk(dropped, source_id="n2", text="equal too", updated_at=NEW, **both),
        chunk(dropped, source_id="n4", text="only dropped", updated_at=OLD, **both),
        chunk(dropped, source_id="n5", text="taken out", updated_at=OLD, **both),
    ])  # fmt: skip
    out = value(db, "select id::text from client_memory_chunks where text = 'taken out'")
    call(db, "desk_exclude_chunks", p_ids=[out], p_kind="excluded", p_reason="stale", p_event=event("ChunksExcluded"))
    for key, at in ((kept, OLD), (dropped, NEW)):
        db.execute(
            "insert into tips_daily_entity_snapshots (dialog_key, sync_date, entity_type, source_id, payload,"
            " content_hash, created_at, updated_at) values (%s, '2026-06-01', 'note', '1', '{}', %s, %s, %s)",
            [key, f"hash-{key}", at, at],
        )
        db.execute(
            "insert into token_usage_log (dialog_key, provider, model, phase, total_tokens)"
            " values (%s, 'gemini', 'm', 'embed', 7)",
            [key],
        )
        db.execute(
            "update desk_dialog_sources set last_ingest_at = %s where dialog_key = %s",
            [at, key],
        )
    db.execute(
        "insert into tips_daily_entity_snapshots (dialog_key, sync_date, entity_type, source_id, payload, content_hash)"
        " values (%s, '2026-06-02', 'note', '1', '{}', 'later')",
        [dropped],
    )
    pinned = value(db, "select id::text from tips_daily_entity_snapshots where content_hash = 'later'")
    call(
        db, "desk_pin_snapshot", p_id=pinned, p_reason="why", p_actor={}, p_event=event("SnapshotPinned"),
        p_until=value(db, "select now() + interval '3 days'"),
    )  # fmt: skip


@pytest.fixture
def filled(db: DB) -> DB:
    fill(db)
    return db


def test_move(filled: DB) -> None:
    """All of it stands under the kept key, with hashes of that key; of equal rows the newer one stayed."""
    before = dict(filled.execute("select text, updated_at from client_memory_chunks where dialog_key = 'dropped'"))
    done = merge(filled)
    assert done["tables"]["client_memory_chunks"] == {"moved": 2, "lost": 2}
    assert done["tables"]["tips_daily_entity_snapshots"] == {"moved": 2, "lost": 1}
    assert done["tables"]["token_usage_log"] == {"moved": 1}
    assert texts(filled, "kept") == ["equal", "equal too", "only dropped", "only kept"]
    assert texts(filled, "dropped") == []
    assert value(filled, "select bool_and(content_hash = desk_chunk_hash(dialog_key, source, source_id, text))"
                         " from client_memory_chunks")  # fmt: skip
    after = dict(filled.execute("select text, updated_at from client_memory_chunks"))
    assert after["only dropped"] == before["only dropped"], "a merge is no news"
    assert after["equal too"] == before["equal too"] == after["equal"]
    for name in ("desk_snapshot_pins", "desk_tombstones", "desk_excluded_chunks", "token_usage_log"):
        assert value(filled, f"select count(*) from {name} where dialog_key = 'dropped'") == 0
    assert value(filled, "select sum(total) from desk_usage_dialog_hours where dialog_key = 'kept'") == 14
    hashes = dict(filled.execute("select sync_date::text, content_hash from desk_snapshot_ledger"))
    assert hashes == {"2026-06-01": "hash-dropped", "2026-06-02": "later"}
    assert call(filled, "desk_check_rollups") == {"equal": True, "differing": [], "stale": False}
    payload = value(filled, "select payload from companion_events where type = 'DialogKeysMerged'")
    assert (payload["kept_key"], payload["mode"], payload["moved"]) == ("kept", "move", 10)


def test_undo_is_exact(filled: DB) -> None:
    """Every row of every table is what it was, hashes and times included."""
    before = rows(filled)
    done = merge(filled)
    assert rows(filled) != before
    assert undo(filled, done["merge_id"])["outcome"] == "done"
    assert rows(filled) == before
    assert call(filled, "desk_check_rollups")["equal"]
    assert undo(filled, done["merge_id"]) == {"outcome": "undone"}
    assert value(filled, "select count(*) from desk_merge_rows") == 0
    assert call(filled, "companion_verify_chain")["ok"]


def test_undo_keeps_what_came_later(filled: DB) -> None:
    """Rows written since stay where they are; a moved row keeps its later changes; one that is gone stays gone."""
    done = merge(filled)
    insert(filled, [chunk("kept", source_id="later", text="later"), chunk("dropped", source_id="n9", text="again")])
    filled.execute("update client_memory_chunks set embedding_model = 'x' where text = 'only dropped'")
    filled.execute("delete from client_memory_chunks where text = 'equal too'")
    assert call(filled, "desk_corrections_state")["reopened"][0]["chunks"] == 1
    assert undo(filled, done["merge_id"])["outcome"] == "done"
    assert texts(filled, "kept") == ["equal", "equal too", "later", "only kept"]
    assert texts(filled, "dropped") == ["again", "equal", "only dropped"]
    assert value(filled, "select embedding_model from client_memory_chunks where text = 'only dropped'") == "x"


def test_copy_and_its_undo(filled: DB) -> None:
    """A copy leaves the other key as it is, takes chunks alone, and goes away again."""
    before = rows(filled)
    done = merge(filled, mode="copy")
    assert done["tables"] == {"client_memory_chunks": {"copied": 2, "lost": 1}}
    assert texts(filled, "kept") == ["equal", "equal too", "only dropped", "only kept"]
    assert texts(filled, "dropped") == ["equal", "equal too", "only dropped"]
    assert undo(filled, done["merge_id"])["outcome"] == "done"
    assert rows(filled) == before


def test_odd_keys(db: DB) -> None:
    """Quotes, commas, slashes and plus signs in a key: this dialog and only it."""
    fill(db, ODD_KEY, ODD_KEY + "2")
    insert(db, [chunk(ODD_KEY[:-1], text="bystander")])
    before = rows(db)
    seen = call(db, "desk_merge_preview", p_kept=ODD_KEY, p_dropped=ODD_KEY + "2")
    assert (seen["kept"]["chunks"], seen["dropped"]["chunks"]) == (3, 3)
    done = merge(db, ODD_KEY, ODD_KEY + "2")
    assert texts(db, ODD_KEY[:-1]) == ["bystander"]
    assert undo(db, done["merge_id"])["outcome"] == "done"
    assert rows(db) == before


def test_preview(filled: DB) -> None:
    """Rows, dates and clashes of both; alive is who was written within 14 days."""
    seen = call(filled, "desk_merge_preview", p_kept="kept", p_dropped="dropped")
    assert seen["clashes"] == {"chunks": 2, "newer_under_dropped": 1}
    assert seen["other_tables"]["token_usage_log"] == 1 and seen["both_alive"] is False
    assert (seen["dropped"]["ru_id"], seen["dropped"]["sources"]) == ("ru", {"note": 3})
    insert(filled, [chunk(key, source_id="now", client_id="ru", woman_id="tu") for key in ("kept", "dropped")])
    assert call(filled, "desk_merge_preview", p_kept="kept", p_dropped="dropped")["both_alive"] is True


@pytest.mark.parametrize(
    ("kept", "dropped"), [("kept", "kept"), ("", "dropped"), ("kept", ""), ("kept", "other"), ("kept", "nobody")]
)
def test_refused(filled: DB, kept: str, dropped: str) -> None:
    """One key twice, no key, another pair, nothing to merge: refused, and nothing has changed."""
    insert(filled, [chunk("other", client_id="ru-2", woman_id="tu")])
    before = rows(filled)
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        merge(filled, kept, dropped)
    assert rows(filled) == before


def test_a_later_merge_is_undone_first(filled: DB) -> None:
    """a into b into c: the first cannot go back while the second stands."""
    insert(filled, [chunk("third", client_id="ru", woman_id="tu")])
    first, second = merge(filled), merge(filled, "third", "kept")
    assert undo(filled, first["merge_id"]) == {"outcome": "later"}
    assert undo(filled, second["merge_id"])["outcome"] == "done"
    assert undo(filled, first["merge_id"])["outcome"] == "done"
    assert undo(filled, str(uuid.uuid4())) == {"outcome": "missing"}


def test_undo_ends(filled: DB, other: DB) -> None:
    """After 14 days the map is gone."""
    done = merge(filled)
    other.execute("update desk_merges set undo_until = now() - interval '1 second'")
    other.commit()
    assert undo(filled, done["merge_id"]) == {"outcome": "expired"}
    assert call(filled, "desk_prune_corrections")["merge_rows"] > 0


def test_a_table_of_later(filled: DB, other: DB, make_table: Callable[[str], None]) -> None:
    """A table that nobody knew of is found by its column, with and without a key, and referenced ones stay."""
    make_table("create table later_notes (dialog_key text, note text, unique (dialog_key, note))")
    make_table("create table later_parents (id int primary key, dialog_key text)")
    make_table("create table later_children (parent int references later_parents on delete cascade)")
    other.execute("insert into later_notes values ('dropped', 'a'), ('dropped', 'b'), ('kept', 'b'), ('dropped', null)")
    other.execute("insert into later_parents values (1, 'dropped'); insert into later_children values (1)")
    other.commit()
    before = rows(other)
    other.commit()
    done = merge(filled)
    assert done["tables"]["later_notes"] == {"moved": 2, "lost": 1}
    assert value(other, "select count(*) from later_children") == 1
    assert value(other, "select dialog_key from later_parents") == "kept"
    other.commit()
    undo(filled, done["merge_id"])
    assert rows(other) == before
    other.commit()


def test_tombstones_follow(filled: DB, other: DB) -> None:
    """An excluded chunk stays away under the kept key, also when its text is gone and its new hash cannot be known."""
    lost = value(filled, "select id::text from client_memory_chunks where text = 'only dropped'")
    call(
        filled, "desk_exclude_chunks", p_ids=[lost], p_kind="deleted", p_reason="stale", p_event=event("ChunksDeleted")
    )
    other.execute("delete from desk_excluded_chunks where id = %s", [lost])
    other.commit()
    merge(filled)
    given = [
        chunk("kept", source="note", source_id=s, text=t) for s, t in (("n5", "taken out"), ("n4", "only dropped"))
    ]
    assert call(filled, "desk_write_chunks", p_dialog_key="kept", p_rows=given)["excluded"] == 2
    hashes = [row["content_hash"] for row in given]
    answer = call(filled, "desk_missing_hashes", p_dialog_key="kept", p_hashes=hashes, p_model="m")
    assert (answer["absent"], answer["excluded"]) == ([], hashes)


@pytest.fixture
def make_table(other: DB) -> Any:
    """Make a table for this test alone."""
    made: list[str] = []

    def make(statement: str) -> None:
        other.execute(statement)
        made.append(statement.split()[2])
        other.commit()

    yield make
    other.rollback()
    for name in reversed(made):
        other.execute(f"drop table {name} cascade")
    other.commit()
