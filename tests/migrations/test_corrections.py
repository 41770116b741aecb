"""Chunks taken out and put back, tombstones against our ingest, superseded rows, and what came back all the same."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import MODEL, call, chunk, insert, value, vector
from tests.migrations.test_merge import event

DB = psycopg.Connection[Any]


def exclude(db: DB, ids: list[str], kind: str = "excluded") -> dict[str, Any]:
    answer: dict[str, Any] = call(
        db, "desk_exclude_chunks", p_ids=ids, p_kind=kind, p_reason="stale", p_event=event("ChunksExcluded")
    )
    return answer


def whole(db: DB) -> list[dict[str, Any]]:
    return [r[0] for r in db.execute("select to_jsonb(c) from client_memory_chunks c order by id")]


def superseded(db: DB, **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = call(db, "desk_delete_superseded", p_event=event("ChunksDeleted"), **arguments)
    return answer


def ages(db: DB) -> list[str]:
    """Age 34, 35, 36 of one profile line, a day apart, and a line beside it."""
    return insert(db, [
        chunk("d1", source="profile", source_id="p2", text=f"Age: {age}", created_at=f"2026-05-{day:02}T00:00:00Z",
              updated_at=f"2026-05-{day:02}T00:00:00Z")
        for day, age in enumerate((34, 35, 36), start=1)
    ] + [chunk("d1", source="profile", source_id="p1", text="Name: T", created_at="2026-05-01T00:00:00Z",
               updated_at="2026-05-01T00:00:00Z")])  # fmt: skip


def test_out_and_back(db: DB) -> None:
    """An excluded chunk is gone for every search and comes back to the last digit of its vector."""
    ids = insert(db, [chunk(text=t, source_id=t, embedding=vector(0.1, -0.25, 1e-7), tags=["a", "b,c"],
                            metadata={"x": [1]}, sent_at="2026-05-01T10:00:00.123456Z") for t in "abc"])  # fmt: skip
    before = whole(db)
    assert exclude(db, ids[:2]) == {"count": 2, "dialogs": 1, "missing": 0}
    assert [row["text"] for row in whole(db)] == ["c"]
    found = call(db, "desk_search", p_dialog_key="d1", p_query=vector(1), p_model=MODEL, p_limit=9, p_weights={})
    assert [row["text"] for row in found["rows"]] == ["c"]
    listed = call(db, "desk_excluded", p_dialog_key="d1")
    assert (listed["total"], listed["revived"], {r["text"] for r in listed["rows"]}) == (2, 0, {"a", "b"})
    assert exclude(db, ids[:2]) == {"count": 0, "dialogs": 0, "missing": 2}
    back = call(db, "desk_restore_chunks", p_ids=ids[:2], p_event=event("ChunksRestored"))
    assert back == {"restored": 2, "present": 0, "lifted": 0, "missing": 0}
    assert whole(db) == before
    assert call(db, "desk_excluded")["total"] == 0
    assert call(db, "desk_check_rollups")["equal"]
    said = db.execute(
        "select type, payload ->> 'dialog_key', payload ->> 'count', record_id from companion_events order by seq"
    )
    assert said.fetchall() == [("ChunksExcluded", "d1", "2", "d1"), ("ChunksRestored", "d1", "2", "d1")]


def test_our_ingest_does_not_revive(db: DB) -> None:
    """The next ingest passes over it; the existing service's upsert is not refused, and then it is said."""
    row = chunk(text="x")
    ids = insert(db, [row])
    exclude(db, ids, "deleted")
    answer = call(db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=[row["content_hash"]], p_model=MODEL)
    assert answer == {"absent": [], "stale": [], "excluded": [row["content_hash"]], "erased_at": None}
    written = call(db, "desk_write_chunks", p_dialog_key="d1", p_rows=[row], p_seen={"conversation": 1})
    assert (written["added"], written["excluded"]) == (0, 1)
    assert call(db, "desk_corrections_state")["revived"] == 0
    insert(db, [row])
    state = call(db, "desk_corrections_state")
    assert (state["revived"], state["revived_dialogs"]) == (1, ["d1"])
    assert call(db, "desk_excluded")["rows"][0]["revived"] is True
    again = call(db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=[row["content_hash"]], p_model=MODEL)
    assert again["excluded"] == [], "it is there: nothing is left out"
    assert call(db, "desk_restore_chunks", p_ids=ids, p_event=event("ChunksRestored"))["present"] == 1
    assert call(db, "desk_corrections_state")["revived"] == 0


def test_a_tombstone_outlives_its_text(db: DB, other: DB) -> None:
    """After 14 days a deleted chunk cannot be put back, an excluded one can; both tombstones stay until lifted."""
    rows = [chunk(text=t, source_id=t) for t in "ab"]
    ids = insert(db, rows)
    exclude(db, ids[:1], "deleted")
    exclude(db, ids[1:])
    other.execute("update desk_excluded_chunks set keep_until = keep_until - interval '15 days'")
    other.commit()
    assert call(db, "desk_prune_corrections")["chunks"] == 1
    listed = {row["kind"]: row for row in call(db, "desk_excluded")["rows"]}
    assert listed["deleted"]["id"] is None and listed["deleted"]["text"] is None
    assert listed["excluded"]["text"] == "b"
    lifted = call(db, "desk_restore_chunks", p_dialog_key="d1", p_hashes=[rows[0]["content_hash"]],
                  p_event=event("ChunksRestored"))  # fmt: skip
    assert lifted["lifted"] == 1
    answer = call(db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=[rows[0]["content_hash"]], p_model=MODEL)
    assert answer["absent"] == [rows[0]["content_hash"]]


@pytest.mark.parametrize("wrong", [{"p_kind": "gone"}, {"p_kind": None}, {"p_reason": ""}, {"p_kind": "superseded"}])
def test_refused(db: DB, wrong: dict[str, Any]) -> None:
    """Without a known kind and a reason nothing is taken out."""
    ids = insert(db, [chunk()])
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(db, "desk_exclude_chunks",
             **{"p_ids": ids, "p_kind": "deleted", "p_reason": "stale", "p_event": event(), **wrong})  # fmt: skip
    assert value(db, "select count(*) from client_memory_chunks") == 1


def test_superseded(db: DB) -> None:
    """The preview shows what replaced each; the clean-up takes those and no other, and can be undone."""
    ids = ages(db)
    before = whole(db)
    seen = call(db, "desk_superseded_preview")
    assert [(r["text"], r["newer_text"]) for r in seen["rows"]] == [("Age: 34", "Age: 36"), ("Age: 35", "Age: 36")]
    assert (seen["total"], seen["dialogs"], seen["by_source"]) == (2, 1, {"profile": 2})
    assert call(db, "desk_superseded_preview", p_dialog_key="d2")["total"] == 0
    assert superseded(db, p_ids=ids[2:]) == {"deleted": 0, "dialogs": 0}, "judged again"
    assert superseded(db, p_limit=1)["deleted"] == 1
    assert superseded(db) == {"deleted": 1, "dialogs": 1}
    assert superseded(db) == {"deleted": 0, "dialogs": 0}
    assert [r["text"] for r in call(db, "desk_dialog_chunks", p_dialog_key="d1")["rows"]] == ["Age: 36", "Name: T"]
    call(db, "desk_restore_chunks", p_ids=ids, p_event=event("ChunksRestored"))
    assert whole(db) == before


def test_a_superseded_text_may_become_true_again(db: DB) -> None:
    """34, 35, clean-up, 34 again: the ingest writes it, for only the old row went."""
    ages(db)
    superseded(db)
    row = chunk("d1", source="profile", source_id="p2", text="Age: 34")
    asked = call(db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=[row["content_hash"]], p_model=MODEL)
    assert asked["absent"] == [row["content_hash"]]
    assert call(db, "desk_write_chunks", p_dialog_key="d1", p_rows=[row])["added"] == 1


def test_legacy(legacy: DB, legacy_server: tuple[str, str]) -> None:
    """On a table of the existing service, with columns and types of its own: out and back, merged and back."""
    before = whole(legacy)
    key = before[0]["dialog_key"]
    exclude(legacy, [before[0]["id"]])
    assert (
        call(legacy, "desk_restore_chunks", p_ids=[before[0]["id"]], p_event=event("ChunksRestored"))["restored"] == 1
    )
    done = call(legacy, "desk_merge_dialog_keys", p_kept="new", p_dropped=key, p_mode="move", p_event=event())
    assert done["tables"]["client_memory_chunks"] == {"moved": 25}
    assert call(legacy, "desk_undo_merge", p_id=done["merge_id"], p_event=event("MergeUndone"))["outcome"] == "done"
    assert whole(legacy) == before
    gone = call(legacy, "desk_erase_dialog", p_dialog_key=key, p_reason="test", p_event=event("DialogErased"))
    assert gone["tables"]["client_memory_chunks"] == 25
