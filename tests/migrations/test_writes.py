"""desk_missing_hashes, desk_write_chunks and desk_remove_demo: one transaction, only what is new, seen is stamped."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import MODEL, call, chunk, insert, value, vector


def write(db: psycopg.Connection[Any], *rows: dict[str, Any], key: str = "d1", **arguments: Any) -> dict[str, Any]:
    given = {"p_seen": {"conversation": 1}, **arguments}
    answer: dict[str, Any] = call(db, "desk_write_chunks", p_dialog_key=key, p_rows=list(rows) or "[]", **given)
    return answer


def test_missing_and_stale(db: psycopg.Connection[Any]) -> None:
    """Absent: no row. Stale: a row of another model or of none. Both in the order asked for, each once."""
    insert(
        db,
        [chunk(content_hash="here"), chunk(content_hash="other", embedding_model="m2"), chunk("d2", content_hash="x")],
    )
    insert(db, [chunk(content_hash="none", embedding_model=None)])
    answer = call(
        db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=["z", "none", "here", "x", "other", "z"], p_model=MODEL
    )
    assert answer == {"absent": ["z", "x"], "stale": ["none", "other"], "excluded": [], "erased_at": None}
    nothing = call(db, "desk_missing_hashes", p_dialog_key="d1", p_hashes=[], p_model=MODEL)
    assert (nothing["absent"], nothing["stale"]) == ([], [])


def test_new_rows(db: psycopg.Connection[Any]) -> None:
    """Every column arrives as given, what is left out gets its default."""
    full = chunk(
        client_id="ru", woman_id="tu", favorite_id="f", direction="incoming", compose_mode="reply", language=None,
        note_date="2026-05-20", sent_at="2026-05-20T10:00:00+03:00", tags=["note", "trust"], metadata={"demo": "no"},
    )  # fmt: skip
    bare = chunk(text="bare")
    assert write(db, full, bare) == {"added": 2, "reembedded": 0, "revived": 0, "excluded": 0}
    rows = call(db, "desk_dialog_chunks", p_dialog_key="d1")["rows"]
    stored = next(r for r in rows if r["text"] == "hello")
    assert {k: stored[k] for k in full if k not in ("embedding", "sent_at")} == {
        k: v for k, v in full.items() if k not in ("embedding", "sent_at")
    }
    assert stored["sent_at"].startswith("2026-05-20T07:00:00")
    other = next(r for r in rows if r["text"] == "bare")
    assert (other["compose_mode"], other["tags"], other["metadata"], other["favorite_id"]) == ("both", [], {}, "d1")


def test_twice_adds_nothing(db: psycopg.Connection[Any]) -> None:
    """The same rows again: none added, none written again."""
    rows = [chunk(text=f"t{n}") for n in range(5)]
    write(db, *rows)
    version = "select array_agg(ctid::text || updated_at order by id) from client_memory_chunks"
    before = value(db, version)
    assert write(db, *rows) == {"added": 0, "reembedded": 0, "revived": 0, "excluded": 0}
    assert value(db, version) == before


def test_stale_is_embedded_again(db: psycopg.Connection[Any]) -> None:
    """A row of another model gets the new vector and the name of its model, and keeps its age."""
    since = "2026-01-01T00:00:00Z"
    insert(
        db, [chunk(embedding_model="old", updated_at=since), chunk(text="b", embedding_model=None, updated_at=since)]
    )
    written = write(db, chunk(embedding=vector(0, 1)), chunk(text="b"))
    assert written == {"added": 0, "reembedded": 2, "revived": 0, "excluded": 0}
    found = (
        "select embedding = %s::vector, embedding_model, updated_at = '2026-01-01Z'"
        " from client_memory_chunks order by text"
    )
    assert db.execute(found, [vector(0, 1)]).fetchall() == [(False, MODEL, True), (True, MODEL, True)]


def test_equal_hashes_in_one_call(db: psycopg.Connection[Any]) -> None:
    """Written once, the first of them."""
    assert write(db, chunk(content_hash="h", text="first"), chunk(content_hash="h", text="second"))["added"] == 1
    assert value(db, "select text from client_memory_chunks") == "first"


@pytest.mark.parametrize(
    ("row", "error"),
    [
        (chunk("another dialog"), "belong to another dialog"),
        (chunk(embedding="[1,2]"), "expected 768 dimensions"),
        (chunk(source="letter"), "source_check"),
    ],
)
def test_all_or_nothing(db: psycopg.Connection[Any], row: dict[str, Any], error: str) -> None:
    """One bad row among good ones: an error, and nothing of the call is there."""
    with pytest.raises(psycopg.Error, match=error):
        write(db, chunk(text="good"), row)
    assert value(db, "select count(*) from client_memory_chunks") == 0
    assert value(db, "select count(*) from desk_dialog_sources") == 0


def test_seen_is_stamped_without_new_rows(db: psycopg.Connection[Any]) -> None:
    """An ingest that found everything there says so per source; status reports the later of stamp and update."""
    insert(db, [chunk(source=source, updated_at="2026-01-01T00:00:00Z") for source in ("profile", "photo")])
    write(db, p_seen={"profile": 3, "photo": 0})
    status = call(db, "desk_dialog_status", p_dialog_keys=["d1"])["d1"]
    assert status["profileUpdatedAt"] == status["lastIngestAt"] > "2026-11"
    assert status["photoUpdatedAt"].startswith("2026-01-01")
    assert call(db, "desk_check_rollups")["equal"]


def test_a_fact_that_returns(db: psycopg.Connection[Any]) -> None:
    """34, 35, and 34 again: with the hashes that the ingest saw, the row of 34 is the current one once more."""
    old, new = chunk(source="profile", text="Age: 34"), chunk(source="profile", text="Age: 35")
    write(db, old)
    write(db, new, p_seen_hashes=[new["content_hash"]])
    assert superseded(db) == ["Age: 34"]
    assert write(db, p_seen_hashes=[old["content_hash"]])["revived"] == 1
    assert superseded(db) == ["Age: 35"]
    assert write(db, p_seen_hashes=[old["content_hash"]])["revived"] == 0


def test_half_of_a_note_changes(db: psycopg.Connection[Any]) -> None:
    """The piece of a split note that is delivered again unchanged stays current, the one that is not is superseded."""

    def note(text: str) -> dict[str, Any]:
        return chunk(source="note", source_id="n1", text=text)

    write(db, note("begin"), note("middle"), note("end"))
    assert superseded(db) == []
    write(db, note("new end"), p_seen_hashes=[note(t)["content_hash"] for t in ("begin", "middle", "new end")])
    assert superseded(db) == ["end"]


def superseded(db: psycopg.Connection[Any]) -> list[str]:
    rows = call(db, "desk_dialog_chunks", p_dialog_key="d1", p_flag="superseded")["rows"]
    return sorted(row["text"] for row in rows)


def test_two_ingests_at_once(dsn: str) -> None:
    """The same rows from two processes: each row once, no deadlock, no error."""
    rows = [chunk(text=f"t{n}") for n in range(60)]
    added: list[int] = []

    def work(order: list[dict[str, Any]]) -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            added.append(write(connection, *order)["added"])

    threads = [threading.Thread(target=work, args=(order,)) for order in (rows, rows[::-1])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(added) == 60
    with psycopg.connect(dsn) as connection:
        assert call(connection, "desk_overview")["chunks"] == 60


def test_removing_the_demo(db: psycopg.Connection[Any]) -> None:
    """Demo rows go, others stay; the state and the event with the count come in the same transaction."""
    insert(
        db,
        [
            chunk(text="mine", metadata={}),
            chunk("demo", metadata={"demo": True}),
            chunk("demo", text="2", metadata={"demo": True}),
        ],
    )
    event = {
        "event_id": str(uuid.uuid4()), "class": "audit", "type": "DemoRemoved", "ts": "2026-11-30T10:00:00Z",
        "actor": {"kind": "user", "principal_id": "me"}, "payload": {"page": "settings"},
    }  # fmt: skip
    with pytest.raises(psycopg.Error):
        call(db, "desk_remove_demo", p_event={**event, "class": "nonsense"})
    assert call(db, "desk_overview")["chunks"] == 3
    assert call(db, "desk_remove_demo", p_event=event)["deleted"] == 2
    overview = call(db, "desk_overview")
    assert (overview["chunks"], overview["demo"]) == (1, {"state": "removed", "chunks": 0})
    payload = call(db, "companion_query_events")["rows"][0]["payload"]
    assert payload.items() >= {"page": "settings", "deleted": 2, "chunks": 2}.items()
