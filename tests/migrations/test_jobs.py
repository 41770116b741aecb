"""The functions of jobs and of re-embedding in the database: who may call them, what is kept, what is pruned."""

from __future__ import annotations

import hashlib
import json
import uuid
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import MODEL, call, chunk, insert, value, vector

ACTOR = {"kind": "user", "principal_id": "op"}
FUNCTIONS = (
    *("desk_start_job", "desk_claim_job", "desk_beat_job", "desk_finish_job", "desk_cancel_job", "desk_list_jobs"),
    *(
        "desk_prune_jobs",
        "desk_job_is_free",
        "desk_other_model_summary",
        "desk_other_model_chunks",
        "desk_reembed_chunks",
    ),
)


def start(db: psycopg.Connection[Any], **arguments: Any) -> dict[str, Any]:
    given = {"p_id": str(uuid.uuid4()), "p_kind": "k", "p_key": None, "p_params": {}, "p_actor": ACTOR, **arguments}
    answer: dict[str, Any] = call(db, "desk_start_job", **given)
    return answer


def claim(db: psycopg.Connection[Any], owner: str = "o", **arguments: Any) -> Any:
    return call(db, "desk_claim_job", p_owner=owner, p_kinds=["k"], p_place="here", p_lease_s=30, **arguments)


def test_only_the_service_role_may(db: psycopg.Connection[Any]) -> None:
    """Neither anon nor authenticated may call one of them or see a job; row-level security is on."""
    for name in FUNCTIONS:
        oid = value(db, "select oid::regprocedure::text from pg_proc where proname = %s", name)
        for role, may in (("anon", False), ("authenticated", False), ("service_role", True)):
            assert value(db, "select has_function_privilege(%s, %s, 'execute')", role, oid) is may, (name, role)
    assert value(db, "select relrowsecurity from pg_class where relname = 'desk_jobs'")
    assert not value(db, "select has_table_privilege('anon', 'desk_jobs', 'select')")


def test_oldest_first_and_only_of_known_kinds_and_places(db: psycopg.Connection[Any]) -> None:
    """What a process cannot do it does not take."""
    start(db, p_kind="other")
    start(db, p_place="elsewhere")
    first, second = (start(db)["job"]["id"] for _ in range(2))
    assert [claim(db)["id"], claim(db)["id"], claim(db)] == [first, second, None]


def test_progress_of_a_stranger_changes_nothing(db: psycopg.Connection[Any]) -> None:
    """Only the holder of the claim writes, and only while the job is alive."""
    id = start(db)["job"]["id"]
    claim(db)
    answer = call(db, "desk_beat_job", p_id=id, p_owner="stranger", p_lease_s=30, p_done=9)
    assert answer == {"held": False, "state": "running"}
    assert call(db, "desk_finish_job", p_id=id, p_owner="stranger", p_state="done")["held"] is False
    assert call(db, "desk_finish_job", p_id=id, p_owner="o", p_state="done", p_result={"n": 1})["held"] is True
    assert call(db, "desk_beat_job", p_id=id, p_owner="o", p_lease_s=30) == {"held": False, "state": "done"}
    assert value(db, "select done from desk_jobs") == 0


def test_a_cancel_survives_the_way_back_into_the_queue(db: psycopg.Connection[Any]) -> None:
    """Asked to stop while the process ends: the next one stops it, and does not go on."""
    id = start(db)["job"]["id"]
    claim(db)
    assert call(db, "desk_cancel_job", p_id=id)["job"]["state"] == "cancelling"
    assert call(db, "desk_finish_job", p_id=id, p_owner="o", p_state="queued")["job"]["state"] == "cancelling"
    assert claim(db, "next")["state"] == "cancelling"


def test_pruning(db: psycopg.Connection[Any]) -> None:
    """Ended more than 30 days ago: gone. Bound to a folder that nobody opened for a week: failed. The rest stays."""
    old, young, bound, live = (start(db, p_place=p)["job"]["id"] for p in (None, None, "gone", None))
    db.execute("update desk_jobs set state = 'done', finished_at = now() - interval '31 days' where id = %s", (old,))
    db.execute("update desk_jobs set state = 'done', finished_at = now() - interval '29 days' where id = %s", (young,))
    db.execute("update desk_jobs set created_at = now() - interval '8 days' where id in (%s, %s)", (bound, live))
    assert call(db, "desk_prune_jobs") == {"deleted": 1, "abandoned": 1}
    states = dict(db.execute("select id::text, state from desk_jobs").fetchall())
    assert states == {young: "done", bound: "failed", live: "queued"}
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(db, "desk_prune_jobs", p_days=0)


def test_other_models_are_walked_by_id_and_written_where_the_text_is_the_same(db: psycopg.Connection[Any]) -> None:
    """Rows of another model or none, in pages; a row whose text, or model, changed meanwhile is left alone."""
    rows = [chunk(source_id=f"m{n}", text=f"t{n}", embedding_model="old" if n % 2 else None) for n in range(6)]
    insert(db, [*rows, chunk(source_id="own", text="own")])
    first = call(db, "desk_other_model_chunks", p_model=MODEL, p_limit=4)
    rest = call(db, "desk_other_model_chunks", p_model=MODEL, p_limit=4, p_after=first[-1]["id"])
    assert (len(first), len(rest)) == (4, 2)
    summary = call(db, "desk_other_model_summary", p_model=MODEL)
    assert (summary["chunks"], summary["characters"]) == (6, 12)
    assert {(m["model"], m["chunks"]) for m in summary["models"]} == {("old", 3), ("none", 3)}
    given = [
        {"id": r["id"], "text_hash": hashlib.sha256(r["text"].encode()).hexdigest(), "embedding": vector(0, 1)}
        for r in (*first, *rest)
    ]
    given[0]["text_hash"] = "of another text"
    db.execute("update client_memory_chunks set embedding_model = %s where id = %s", (MODEL, given[1]["id"]))
    statement = "select desk_reembed_chunks(%s::jsonb, %s)"
    assert value(db, statement, json.dumps(given), MODEL) == {"written": 4, "passed_over": 2}
    assert [r["id"] for r in call(db, "desk_other_model_chunks", p_model=MODEL)] == [given[0]["id"]]
    assert value(db, "select updated_at = created_at from client_memory_chunks where id = %s", given[5]["id"])
