"""The closed loop in SQL: what it refuses, that versions never change, and that exactly one is in force."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from tests.migrations.conftest import call, value

SET = "00000000-0000-4000-8000-00000000000a"
DB = psycopg.Connection[Any]
BODY = {"weights": {"note": 0.1}, "unit": "raw", "fusion": 0, "limit": 12, "budget_chars": None, "quotas": {}}


@pytest.fixture
def root(dsn: str) -> Iterator[DB]:
    """A superuser, for what no key may do."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def event(kind: str, who: str = "ann", actor_kind: str = "user") -> dict[str, Any]:
    return {
        "event_id": str(uuid.uuid4()),
        "type": kind,
        "class": "audit",
        "ts": "2026-12-01T10:00:00Z",
        "app_id": "tuning",
        "payload": {},
        "actor": {"kind": actor_kind, "principal_id": who, "display_name": who},
        "actor_kind": actor_kind,
    }


def propose(db: DB, who: str = "ann") -> int:
    answer = call(
        db,
        "desk_propose_profile",
        p_name="own",
        p_body=BODY,
        p_query_set=SET,
        p_note="",
        p_event=event("ProfileProposed", who),
    )
    return int(answer["version"])


def evaluate(db: DB, version: int, query_set: str = SET) -> str:
    made = str(uuid.uuid4())
    db.execute(
        "insert into desk_evaluations (id, query_set, query_set_version, baseline_version, profile_version, result,"
        " verdict, rule, queries, coverage) values (%s, %s, 1, 1, %s, '{}', 'ship', 'r', 60, 1)",
        (made, query_set, version),
    )
    return made


def approve(db: DB, version: int, evaluation: str | None, who: str = "bea", **kind: str) -> Any:
    return call(
        db,
        "desk_approve_profile",
        p_version=version,
        p_evaluation_id=evaluation,
        p_note="",
        p_event=event("ProfileApproved", who, **kind),
    )


def activate(db: DB, version: int) -> Any:
    return call(db, "desk_activate_profile", p_version=version, p_event=event("ProfileActivated"))


def revert(db: DB, from_version: int) -> Any:
    return call(db, "desk_revert_profile", p_from=from_version, p_reason="worse", p_event=event("ProfileReverted"))


def active(db: DB) -> int:
    return int(call(db, "desk_active_profile")["version"])


def events(db: DB) -> list[str]:
    return [r[0] for r in db.execute("select type from companion_events where app_id = 'tuning' order by seq")]


def test_the_seed_is_version_one_and_active(db: DB) -> None:
    """As the migration leaves it."""
    found = call(db, "desk_active_profile")
    assert (found["version"], found["name"]) == (1, "seed")
    assert found["body"]["weights"] == {"note": 0.18, "profile": 0.08, "photo": 0.05}
    assert revert(db, 1) == {"refused": "nothing_before"}


def test_activation_needs_evaluation_and_approver(db: DB) -> None:
    """Of exactly this version, on exactly the labelled queries it was proposed for, and a person's yes."""
    version = propose(db)
    assert activate(db, version) == {"refused": "not_approved"}
    assert approve(db, version, None) == {"refused": "no_evaluation"}
    assert approve(db, version, str(uuid.uuid4())) == {"refused": "no_evaluation"}
    assert approve(db, version, evaluate(db, 1)) == {"refused": "no_evaluation"}
    assert approve(db, version, evaluate(db, version, str(uuid.uuid4()))) == {"refused": "no_evaluation"}
    good = evaluate(db, version)
    for kind in ("system", "ai"):
        assert approve(db, version, good, actor_kind=kind) == {"refused": "no_approver"}
    assert approve(db, version, good, who="") == {"refused": "no_approver"}
    assert events(db) == ["ProfileProposed"] and active(db) == 1

    assert approve(db, version, good) == {"self_approved": False, "verdict": "ship"}
    assert approve(db, version, good) == {"refused": "approved_already"}
    assert activate(db, version) == {"version": version, "from_version": 1}
    assert activate(db, version) == {"refused": "active_already"}
    assert events(db) == ["ProfileProposed", "ProfileApproved", "ProfileActivated"]


def test_an_evaluation_that_is_gone_proves_nothing(db: DB, root: DB) -> None:
    """What was approved because of it cannot be brought into force any more."""
    version = propose(db)
    approve(db, version, evaluate(db, version))
    root.execute("delete from desk_evaluations")
    assert activate(db, version) == {"refused": "no_evaluation"}


def test_who_proposes_and_approves_is_recorded_as_such(db: DB) -> None:
    """Self-approved, until roles say otherwise."""
    version = propose(db, "ann")
    assert approve(db, version, evaluate(db, version), who="ann")["self_approved"] is True
    payload = value(db, "select payload from companion_events where type = 'ProfileApproved'")
    assert payload["self_approved"] is True and payload["version"] == version


def test_back_goes_back_and_then_further_back(db: DB) -> None:
    """A second click does not bring back what the first took out; who looks at an old page is told."""
    for _ in range(2):
        version = propose(db)
        approve(db, version, evaluate(db, version))
        activate(db, version)
    assert active(db) == 3
    assert revert(db, 2) == {"refused": "not_active"}
    assert revert(db, 3) == {"version": 2, "from_version": 3}
    assert revert(db, 2) == {"version": 1, "from_version": 2}
    assert revert(db, 1) == {"refused": "nothing_before"}
    kinds = [r[0] for r in db.execute("select kind from desk_profile_activations order by active_at")]
    assert kinds == ["first", "activated", "activated", "reverted", "reverted"]


def test_versions_are_only_added(db: DB, root: DB) -> None:
    """Neither changed nor deleted, whoever asks; and two are never in force at once."""
    version = propose(db)
    approve(db, version, evaluate(db, version))
    for statement in (
        "update desk_profiles set name = 'x'",
        "delete from desk_profiles where version > 1",
        "update desk_profile_approvals set note = 'x'",
    ):
        with pytest.raises(psycopg.errors.CheckViolation):
            root.execute(statement)
    with pytest.raises(psycopg.errors.UniqueViolation):
        root.execute("insert into desk_profile_activations (version, kind) values (1, 'first')")


def test_the_service_key_cannot_go_round_the_rules(db: DB) -> None:
    """It reads the tables and calls the functions; the switch itself and the rows are not its to write."""
    for statement in (
        "insert into desk_profiles (version, name, body) values (9, 'x', '{}')",
        "update desk_profile_activations set ended_at = now()",
        "select desk_switch_profile(1, null, 'activated', '', '{}')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            db.execute(statement)
    assert active(db) == 1
