"""The log of events: one chain whoever writes, idempotent, filtered before the limit; every kind of damage is found."""

from __future__ import annotations

import threading
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, value

NOW = datetime.now(UTC)
GOOD = {"ok": True, "first_bad_seq": None, "reason": None}


def event(**fields: Any) -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()), "class": "audit", "type": "DialogIngested", "payload": {"added": 1},
        "ts": NOW.isoformat(),
        "app_id": "memory", "record_id": "d1", "actor": {"kind": "user", "principal_id": "op"}, **fields,
    }  # fmt: skip


def aged(days: float, **fields: Any) -> dict[str, Any]:
    return event(ts=(NOW - timedelta(days=days)).isoformat(), **fields)


def append(db: psycopg.Connection[Any], *events: dict[str, Any]) -> int:
    return int(call(db, "companion_append_events", p_events=list(events))["inserted"])


def verify(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, Any]:
    answer: dict[str, Any] = call(db, "companion_verify_chain", **arguments)
    return answer


def test_chain(db: psycopg.Connection[Any]) -> None:
    """Sequence from 1 without gaps, each row names the hash of the one before, and all of it verifies."""
    assert append(db, event(), event()) == 2
    assert append(db, event(payload={"текст": 1.50, "b": [None, {}], "a": True})) == 1
    rows = db.execute("select seq, prev_hash, hash from companion_events order by seq").fetchall()
    assert [r[0] for r in rows] == [1, 2, 3]
    assert [r[1] for r in rows] == ["0" * 64, rows[0][2], rows[1][2]]
    assert verify(db) == {**GOOD, "checked": 3}
    db.execute("set time zone 'Asia/Kathmandu'; set datestyle = 'German'")
    assert verify(db)["ok"]


def test_idempotent(db: psycopg.Connection[Any]) -> None:
    """An event sent again, also within one batch, is there once and breaks nothing."""
    first = event()
    assert append(db, first, event(), first) == 2
    assert append(db, first, {**first, "type": "Other"}, event()) == 1
    assert verify(db) == {**GOOD, "checked": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        {"class": "secret"}, {"class": None}, {"type": ""}, {"event_id": None}, {"event_id": "7"}, {"ts": None},
        {"ts": "someday"}, {"actor": None}, {"actor": "me"},
    ],
)  # fmt: skip
def test_invalid_event(db: psycopg.Connection[Any], wrong: dict[str, Any]) -> None:
    """Refused, and with it the whole batch; the error quotes nothing of the payload."""
    with pytest.raises(psycopg.DataError) as refused:
        append(db, event(), event(payload={"secret": "word"}, **wrong))
    assert "word" not in str(refused.value)
    assert value(db, "select count(*) from companion_events") == 0


def test_fields(db: psycopg.Connection[Any]) -> None:
    """Everything comes back as it was sent; kind, mission and iteration are read from the actor where not given."""
    sent = event(
        collection="chunks", user_id="u", caused_by=str(uuid.uuid4()),
        actor={"kind": "ai", "principal_id": "m", "mission_id": "m1", "iteration_id": "i1", "rationale": "because"},
    )  # fmt: skip
    append(db, sent)
    row = call(db, "companion_query_events")["rows"][0]
    assert {k: row[k] for k in sent if k != "ts"} == {k: v for k, v in sent.items() if k != "ts"}
    assert datetime.fromisoformat(row["ts"]) == NOW
    assert (row["actor_kind"], row["mission_id"], row["iteration_id"]) == ("ai", "m1", "i1")


def test_writers_at_once_do_not_fork(dsn: str) -> None:
    """Six connections append together: one chain."""

    def work() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            for _ in range(10):
                append(connection, event(), event())

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert verify(connection) == {**GOOD, "checked": 120}


def test_query_filters_before_the_limit(db: psycopg.Connection[Any]) -> None:
    """The newest match is found behind any number of others; since is inclusive, until is not."""
    append(db, aged(3, type="Rare", app_id="todo", record_id="r", actor={"kind": "system"}))
    append(db, *[event() for _ in range(20)])

    def found(**arguments: Any) -> int:
        return len(call(db, "companion_query_events", p_limit=5, **arguments)["rows"])

    for arguments in ({"p_type": "Rare"}, {"p_app_id": "todo"}, {"p_record_id": "r"}, {"p_actor_kind": "system"}):
        assert found(**arguments) == 1
    moment = NOW - timedelta(days=3)
    assert found(p_since=moment, p_until=NOW) == 1
    assert found(p_until=moment) == 0
    assert found(p_type="Rare", p_app_id="memory") == 0
    assert call(db, "companion_count_events", p_since=moment) == {"DialogIngested": 20, "Rare": 1}
    assert call(db, "companion_count_events", p_since=NOW) == {"DialogIngested": 20}


def test_query_pages(db: psycopg.Connection[Any]) -> None:
    """Newest first; next_before_seq leads through all of them and ends with null; 1,000 at most."""
    append(db, *[event() for _ in range(1001)])
    seen: list[int] = []
    before = None
    while True:
        page = call(db, "companion_query_events", p_limit=300, p_before_seq=before)
        seen += [row["seq"] for row in page["rows"]]
        before = page["next_before_seq"]
        if before is None:
            break
    assert seen == list(range(1001, 0, -1))
    assert len(call(db, "companion_query_events", p_limit=5000)["rows"]) == 1000
    assert call(db, "companion_query_events", p_type="none") == {"rows": [], "next_before_seq": None}


@pytest.mark.parametrize(
    ("damage", "seq", "reason"),
    [
        ("update companion_events set payload = '{\"added\": 9}' where seq = 4", 4, "edited"),
        ("update companion_events set actor = '{}' where seq = 1", 1, "edited"),
        ("update companion_events set ts = ts - interval '1 second' where seq = 9", 9, "edited"),
        ("update companion_events set hash = repeat('a', 64) where seq = 5", 5, "edited"),
        ("delete from companion_events where seq = 4", 4, "missing"),
        ("delete from companion_events where seq in (1, 2)", 1, "missing"),
        ("delete from companion_events where seq > 7", 8, "missing"),
        ("delete from companion_events", 1, "missing"),
        (
            "update companion_events set seq = seq + 100 where seq in (4, 5);"
            "update companion_events set seq = case seq when 104 then 5 else 4 end where seq > 100",
            4,
            "edited",
        ),
        (
            "delete from companion_events where seq = 4; update companion_events set seq = seq - 1 where seq > 4;"
            "update companion_events e set hash = companion_event_hash(e)",
            4,
            "reordered",
        ),
    ],
)
def test_damage_is_found(
    db: psycopg.Connection[Any], other: psycopg.Connection[Any], damage: str, seq: int, reason: str
) -> None:
    """Edited, missing (also first or last), renumbered or reordered rows: where it begins and what it is."""
    append(db, *[event() for _ in range(9)])
    other.execute(damage)
    found = verify(other)
    assert (found["ok"], found["first_bad_seq"], found["reason"]) == (False, seq, reason)


def test_verify_from(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """Only from a row on: earlier damage is not looked at, the link to the row before is."""
    append(db, *[event() for _ in range(9)])
    other.execute("update companion_events set payload = '{}' where seq = 3")
    assert verify(other, p_from_seq=5) == {**GOOD, "checked": 5}
    assert verify(other, p_from_seq=3)["first_bad_seq"] == 3
    other.execute("delete from companion_events where seq = 5")
    assert verify(other, p_from_seq=6)["ok"] is False


def test_prune(db: psycopg.Connection[Any], other: psycopg.Connection[Any]) -> None:
    """Old observations among young audit events go, both chains of hashes and checks hold, damage is still found."""
    kinds = [("audit", 500), ("observation", 100), ("observation", 100), ("audit", 100), ("observation", 95)]
    append(db, *[aged(days, **{"class": c}) for c, days in kinds])
    append(db, *[event(**{"class": "observation"}) for _ in range(6)], event())
    assert call(db, "companion_prune_events", p_observation_days=90, p_observation_max=50, p_audit_days=400) == {
        "deleted": 4
    }
    left = [row[0] for row in db.execute("select seq from companion_events order by seq")]
    assert left == [4, 6, 7, 8, 9, 10, 11, 12]
    assert verify(db) == {**GOOD, "checked": 8}
    checkpoint = value(db, "select value from desk_meta where key = 'events_checkpoint'")
    assert (checkpoint["seq"], checkpoint["gaps"], checkpoint["deleted"]) == (3, 2, 4)

    assert call(db, "companion_prune_events", p_observation_max=2) == {"deleted": 4}
    assert [row[0] for row in db.execute("select seq from companion_events order by seq")] == [4, 10, 11, 12]
    assert db.execute("select from_seq, to_seq, events from companion_event_gaps order by 1").fetchall() == [
        (1, 3, 3),
        (5, 9, 5),
    ]
    assert verify(db)["ok"]
    assert call(db, "companion_prune_events") == {"deleted": 0}

    append(db, event())
    assert verify(db) == {**GOOD, "checked": 5}
    other.execute("delete from companion_events where seq = 4")
    assert verify(other)["first_bad_seq"] == 4


def test_prune_everything(db: psycopg.Connection[Any]) -> None:
    """With all rows gone the chain goes on from its head."""
    append(db, aged(500), aged(500))
    assert call(db, "companion_prune_events") == {"deleted": 2}
    assert verify(db) == {**GOOD, "checked": 0}
    append(db, event())
    assert value(db, "select seq from companion_events") == 3
    assert verify(db) == {**GOOD, "checked": 1}


def test_audit_is_never_pruned_by_count(db: psycopg.Connection[Any]) -> None:
    """Only age takes audit events; a negative retention is refused."""
    append(db, *[event() for _ in range(5)], event(**{"class": "observation"}))
    assert call(db, "companion_prune_events", p_observation_max=0) == {"deleted": 1}
    assert value(db, "select count(*) from companion_events") == 5
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(db, "companion_prune_events", p_audit_days=-1)
