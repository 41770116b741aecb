"""Saved views in SQL: the event is part of the change, a refused change tells nothing, public keys do not get in."""

from __future__ import annotations

import uuid
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, value

AT = "2026-12-01T10:00:00Z"
FUNCTIONS = (
    *("desk_view_list", "desk_view", "desk_save_view", "desk_rename_view", "desk_drop_view"),
    *("desk_preference", "desk_set_preference"),
)


def event(type: str, **more: Any) -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()),
        "type": type,
        "class": "audit",
        "payload": {},
        "ts": AT,
        "app_id": "views",
        "actor": {"kind": "user", "principal_id": "ann", "display_name": "Ann"},
        "actor_kind": "user",
        **more,
    }


def save(db: psycopg.Connection[Any], name: str = "Monday", **more: Any) -> Any:
    given: dict[str, Any] = {
        "p_id": str(uuid.uuid4()),
        "p_owner": "ann",
        "p_owner_name": "Ann",
        "p_page": "search",
        "p_name": name,
        "p_shared": True,
        "p_dialog_key": None,
        "p_state": {"address": {"scope": "all"}},
        "p_at": AT,
        "p_limit": 10,
        "p_event": event("ViewSaved"),
        **more,
    }
    return call(db, "desk_save_view", **given)


def test_a_change_and_its_event(db: psycopg.Connection[Any]) -> None:
    """Where the event cannot be written nothing is changed; of a refused change there is no event."""
    with pytest.raises(psycopg.Error):
        save(db, p_event=event("ViewSaved", **{"class": "gossip"}))
    assert value(db, "select count(*) from desk_views") == 0
    id = save(db)["id"]
    gone = {"p_id": id, "p_principal": "bob", "p_admin": False, "p_at": AT, "p_event": event("ViewDropped")}
    assert call(db, "desk_drop_view", **gone) == {"refused": "not_yours"}
    assert value(db, "select array_agg(type) from companion_events") == ["ViewSaved"]
    assert call(db, "desk_drop_view", **{**gone, "p_admin": True}) == {"id": id}
    assert value(db, "select array_agg(type order by seq) from companion_events") == ["ViewSaved", "ViewDropped"]
    assert value(db, "select count(*) from desk_view_states") == 0
    assert call(db, "desk_view", p_id=id, p_page="search", p_principal="ann")["dropped"]


def test_old_graves_go(db: psycopg.Connection[Any]) -> None:
    """What was deleted long ago is not even known as deleted."""
    id = save(db)["id"]
    drop = {"p_id": id, "p_principal": "ann", "p_admin": False, "p_at": AT, "p_event": event("ViewDropped")}
    call(db, "desk_drop_view", **drop)
    save(db, "Friday", p_at="2028-06-01T00:00:00Z")
    assert call(db, "desk_view", p_id=id, p_page="search", p_principal="ann") == {}


@pytest.mark.parametrize(
    ("column", "given"), [("p_page", "Search; drop"), ("p_name", ""), ("p_state", {"x": "y" * 50_000})]
)
def test_what_no_row_may_hold(db: psycopg.Connection[Any], column: str, given: Any) -> None:
    """The table says so too."""
    with pytest.raises(psycopg.errors.CheckViolation):
        save(db, **{column: given})


@pytest.mark.parametrize("role", ["anon", "authenticated"])
def test_for_the_service_alone(other: psycopg.Connection[Any], role: str) -> None:
    """Neither rows nor functions for the public keys."""
    for function in FUNCTIONS:
        statement = "select has_function_privilege(%s, p.oid, 'execute') from pg_proc p where proname = %s"
        assert value(other, statement, role, function) is False
    for table in ("desk_views", "desk_view_states", "desk_preferences"):
        assert value(other, "select has_table_privilege(%s, %s, 'select')", role, table) is False
        assert value(other, "select relrowsecurity from pg_class where relname = %s", table)
