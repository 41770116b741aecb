"""Proposals, settings and day figures in the schema: nobody but the service's key, and a decision made once."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

TABLES = ("companion_settings", "companion_proposals", "companion_proposal_dialogs", "companion_previews",
          "companion_day_figures")  # fmt: skip
NOW = "2026-11-30T12:00:00Z"
AI = {"kind": "ai", "principal_id": "p", "display_name": "P", "mission_id": "m", "iteration_id": "i", "rationale": "r"}


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def ask(sql: psycopg.Connection[Any], function: str, **given: Any) -> Any:
    names = ", ".join(f"p_{name} => %s" for name in given)
    values = [json.dumps(v) if isinstance(v, dict) else v for v in given.values()]
    found = sql.execute(f"select {function}({names})", values).fetchone()  # type: ignore[arg-type]
    assert found
    return found[0]


def stage(sql: psycopg.Connection[Any], *dialogs: str, target: str | None = None, expires: str | None = None) -> Any:
    row = {"id": str(uuid.uuid4()), "actor": AI, "mission_id": "m", "iteration_id": "i", "rationale": "r",
           "tool_name": "t", "module": "memory", "params": {"a": 1}, "params_hash": "h", "target_hash": target,
           "expires_at": expires}  # fmt: skip
    return ask(sql, "companion_stage_proposal", proposal=row, dialogs=list(dialogs), now=NOW, event=None)


def test_closed_to_public_keys(sql: psycopg.Connection[Any]) -> None:
    """Row-level security without a policy, and no grant to anon or authenticated."""
    for table in TABLES:
        found = sql.execute(
            "select relrowsecurity, has_table_privilege('anon', oid, 'select'),"
            " has_table_privilege('authenticated', oid, 'select'), has_table_privilege('service_role', oid, 'insert')"
            " from pg_class where oid = %s::regclass",
            [table],
        ).fetchone()
        assert found == (True, False, False, True), table


def test_a_decision_is_made_once(sql: psycopg.Connection[Any]) -> None:
    """The second one is told the state, an unknown id that it is missing, one past its time that it is expired."""
    id = stage(sql, expires="2026-12-01T00:00:00Z")["proposal"]["id"]
    for to, outcome in (("expired", "pending"), ("approved", "done"), ("rejected", "approved")):
        answer = ask(sql, "companion_decide_proposal", id=id, to=to, by="user", now=NOW, event=None)
        assert answer["outcome"] == outcome
    late = stage(sql, expires="2026-11-30T12:00:01Z")["proposal"]["id"]
    after = {"by": "user", "now": "2026-11-30T12:00:02Z", "event": None}
    assert ask(sql, "companion_decide_proposal", id=late, to="approved", **after)["outcome"] == "expired"
    assert ask(sql, "companion_decide_proposal", id=late, to="expired", **after)["outcome"] == "done"
    unknown = str(uuid.uuid4())
    assert ask(sql, "companion_decide_proposal", id=unknown, to="approved", **after)["outcome"] == "missing"


def test_the_same_call_waits_once(sql: psycopg.Connection[Any]) -> None:
    """With another target, or past its time, the one that waits makes room."""
    first = stage(sql, "d1")
    assert stage(sql, "d1")["outcome"] == "same"
    assert stage(sql, "d1", target="x")["outcome"] == "staged"
    states = sql.execute("select status, count(*) from companion_proposals group by 1 order by 1").fetchall()
    assert states == [("expired", 1), ("pending", 1)] and first["outcome"] == "staged"


def test_a_dialog_takes_its_proposal_along(sql: psycopg.Connection[Any]) -> None:
    """Deleted, the proposal goes with its other rows; taken out and put back in one statement, it stays."""
    stage(sql, "d1", "d2")
    sql.execute(
        "with t as (delete from companion_proposal_dialogs where dialog_key = 'd1' returning *)"
        " insert into companion_proposal_dialogs (id, proposal_id, dialog_key) select id, proposal_id, 'd3' from t"
    )
    assert sql.execute("select count(*) from companion_proposals").fetchone() == (1,)
    sql.execute("delete from companion_proposal_dialogs where dialog_key = 'd3'")
    assert sql.execute("select count(*) from companion_proposals").fetchone() == (0,)
    assert sql.execute("select count(*) from companion_proposal_dialogs").fetchone() == (0,)


def test_settings_are_changed_name_by_name(sql: psycopg.Connection[Any]) -> None:
    """Other names stay, null takes one away."""
    for patch, found in (({"a": 1}, {"a": 1}), ({"b": 2}, {"a": 1, "b": 2}), ({"a": None}, {"b": 2})):
        assert ask(sql, "companion_patch_settings", key="figures", patch=patch) == found
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        ask(sql, "companion_patch_settings", key="", patch={})


def test_the_last_note_of_a_day_stands(sql: psycopg.Connection[Any]) -> None:
    """A note that comes late from before changes nothing."""
    for at, value in ((NOW, 5), ("2026-11-30T13:00:00Z", 7), ("2026-11-30T12:30:00Z", 6)):
        ask(sql, "companion_note_figures", day="2026-11-30", values={"x": value}, at=at)
    assert ask(sql, "companion_figure_days", name="x", since="2026-11-01", until="2026-12-01") == {"2026-11-30": 7}
    assert ask(sql, "companion_latest_figures", names=["x", "y"])["x"]["value"] == 7
