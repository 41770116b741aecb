"""Rules and tokens in SQL: one event per decision, the last administrator stays, hashes open nothing, use is noted."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, value

AT = "2026-12-01T10:00:00Z"


def event(type: str) -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()),
        "type": type,
        "class": "audit",
        "payload": {},
        "ts": AT,
        "app_id": "access",
        "actor": {"kind": "user", "principal_id": "local", "display_name": "Local operator"},
        "actor_kind": "user",
    }


def set_rule(db: psycopg.Connection[Any], value: str, *roles: str, keep: bool = True, ignored: Any = ()) -> Any:
    return call(
        db,
        "desk_set_role_rule",
        p_id=str(uuid.uuid4()),
        p_kind="email",
        p_value=value,
        p_roles=[*roles],
        p_by="Ann",
        p_at=AT,
        p_keep_admin=keep,
        p_ignored=[*ignored],
        p_event=event("RoleRuleSet"),
    )


def drop_rule(db: psycopg.Connection[Any], id: str, keep: bool = True, ignored: Any = ()) -> Any:
    return call(
        db,
        "desk_drop_role_rule",
        p_id=id,
        p_at=AT,
        p_keep_admin=keep,
        p_ignored=[*ignored],
        p_event=event("RoleRuleDropped"),
    )


def create(db: psycopg.Connection[Any], id: str, *, expires: str | None = None, limit: int = 10) -> Any:
    return call(
        db,
        "desk_create_api_token",
        p_id=id,
        p_hash=id[0] * 64,
        p_name="Importer",
        p_roles=["viewer", "operator", "viewer"],
        p_reveal_reason=None,
        p_by="Ann",
        p_at=AT,
        p_expires_at=expires,
        p_limit=limit,
        p_event=event("ApiTokenCreated"),
    )


def told(db: psycopg.Connection[Any]) -> list[Any]:
    rows = db.execute("select type, payload, record_id from companion_events where app_id = 'access' order by seq")
    return [tuple(row) for row in rows.fetchall()]


@pytest.mark.parametrize("table", ["desk_role_rules", "desk_api_tokens"])
def test_closed_tables(dsn: str, table: str) -> None:
    """Row-level security is on, and neither a publishable key nor a signed-in user reads."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        assert value(connection, "select relrowsecurity from pg_class where oid = %s::regclass", table)
        for role in ("anon", "authenticated"):
            connection.execute(f"set role {role}")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(f"select * from {table}")
            connection.execute("reset role")


def test_a_rule_is_made_changed_and_dropped(db: psycopg.Connection[Any]) -> None:
    """Each with its event, which holds roles before and after and never the address; the same again is no event."""
    made = set_rule(db, "ann@x.org", "tuner", "admin", "tuner")
    assert made["changed"]
    assert not set_rule(db, "ann@x.org", "admin", "tuner")["changed"]
    assert set_rule(db, "ann@x.org", "viewer", keep=False) == {"id": made["id"], "changed": True}
    assert [(r["value"], r["roles"], r["by"]) for r in call(db, "desk_role_rule_list")] == [
        ("ann@x.org", ["viewer"], "Ann")
    ]
    assert drop_rule(db, made["id"]) == {"dropped": True}
    assert drop_rule(db, made["id"]) == {"dropped": False}
    assert call(db, "desk_role_rule_list") == []
    rule = {"rule_id": made["id"], "kind": "email"}
    assert told(db) == [
        ("RoleRuleSet", {**rule, "after": ["admin", "tuner"]}, made["id"]),
        ("RoleRuleSet", {**rule, "before": ["admin", "tuner"], "after": ["viewer"]}, made["id"]),
        ("RoleRuleDropped", {**rule, "before": ["viewer"]}, made["id"]),
    ]
    assert set_rule(db, "ann@x.org", "viewer")["changed"]


def test_the_last_administrator_stays(db: psycopg.Connection[Any]) -> None:
    """Neither dropped nor lowered, unless another rule that counts makes one; refused, nothing is told."""
    ann = set_rule(db, "ann@x.org", "admin")["id"]
    assert drop_rule(db, ann) == {"refused": "last_admin"}
    assert set_rule(db, "ann@x.org", "viewer") == {"refused": "last_admin"}
    bob = set_rule(db, "bob@x.org", "admin")["id"]
    assert drop_rule(db, ann, ignored=[bob]) == {"refused": "last_admin"}
    assert drop_rule(db, ann) == {"dropped": True}
    assert [name for name, _, _ in told(db)] == ["RoleRuleSet", "RoleRuleSet", "RoleRuleDropped"]
    assert drop_rule(db, bob, keep=False) == {"dropped": True}


def test_two_that_drop_the_last_two(db: psycopg.Connection[Any], dsn: str) -> None:
    """Whoever comes second waits, sees what the first did, and is refused."""
    ann, bob = (set_rule(db, name, "admin")["id"] for name in ("ann@x.org", "bob@x.org"))
    answers: list[Any] = []

    def second() -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            answers.append(drop_rule(connection, bob))

    with psycopg.connect(dsn) as first:
        assert drop_rule(first, ann) == {"dropped": True}
        thread = threading.Thread(target=second)
        thread.start()
        waiting = "select count(*) from pg_locks where relation = 'desk_role_rules'::regclass and not granted"
        while not value(db, waiting):
            pass
        first.commit()
    thread.join(30)
    assert answers == [{"refused": "last_admin"}]


@pytest.mark.parametrize("roles", [[], ["viewer", "root"]])
def test_roles_that_do_not_exist(db: psycopg.Connection[Any], roles: list[str]) -> None:
    """No rule and no token has them, and nothing is told."""
    with pytest.raises((psycopg.errors.CheckViolation, psycopg.errors.NotNullViolation)):
        set_rule(db, "ann@x.org", *roles)
    assert told(db) == []


def test_a_token_is_made_and_revoked(db: psycopg.Connection[Any]) -> None:
    """Listed without its hash; revoked once, with one event."""
    assert create(db, "a" * 10) == {"id": "a" * 10}
    listed = call(db, "desk_api_token_list")
    assert listed[0]["roles"] == ["operator", "viewer"]
    assert "hash" not in listed[0] and "a" * 64 not in str(listed)
    revoke = {"p_id": "a" * 10, "p_at": AT, "p_event": event("ApiTokenRevoked")}
    assert call(db, "desk_revoke_api_token", **revoke) == {"revoked": True}
    assert call(db, "desk_revoke_api_token", **revoke) == {"revoked": False}
    assert [name for name, _, _ in told(db)] == ["ApiTokenCreated", "ApiTokenRevoked"]
    assert told(db)[1][1] == {"before": ["operator", "viewer"]}


def test_so_many_tokens_and_no_more(db: psycopg.Connection[Any]) -> None:
    """Those that are in force count; expired ones do not."""
    assert create(db, "a" * 10, expires="2026-12-01T09:00:00Z", limit=1) == {"id": "a" * 10}
    assert create(db, "b" * 10, limit=1) == {"id": "b" * 10}
    assert create(db, "c" * 10, limit=1) == {"refused": "too_many"}


def check(db: psycopg.Connection[Any], letter: str, at: str) -> Any:
    return call(db, "desk_check_api_token", p_hash=letter * 64, p_now=at)


def used(db: psycopg.Connection[Any]) -> Any:
    return value(db, "select to_char(last_used_at at time zone 'UTC', 'HH24:MI:SS') from desk_api_tokens")


def test_the_use_of_a_token(db: psycopg.Connection[Any]) -> None:
    """Noted at most once a minute, and never once it is over."""
    create(db, "a" * 10, expires="2026-12-01T11:00:00Z")
    assert check(db, "b", AT) == {}
    assert used(db) is None
    found = check(db, "a", AT)
    assert (found["name"], found["roles"], found["expired"], found["revoked"]) == (
        "Importer", ["operator", "viewer"], False, False,
    )  # fmt: skip
    assert used(db) == "10:00:00"
    check(db, "a", "2026-12-01T10:00:59Z")
    assert used(db) == "10:00:00"
    check(db, "a", "2026-12-01T10:01:00Z")
    assert used(db) == "10:01:00"
    assert check(db, "a", "2026-12-01T11:00:00Z")["expired"]
    db.execute("update desk_api_tokens set revoked_at = now()")
    assert check(db, "a", "2026-12-01T10:30:00Z")["revoked"]
    assert used(db) == "10:01:00"
