"""Roles and tokens as administrators change them: who may, what is told of it, and how nobody locks everybody out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.access.desk import AccessDesk, OwnRole
from core.access.people import Person
from core.access.rulebook import FRESH_S, STALE_S, Rulebook
from core.access.store import AccessStore
from core.access.tokens import digest
from core.config import read_settings
from core.errors import (
    ConflictError,
    DatabaseUnavailable,
    Forbidden,
    InputError,
    NotFound,
    SchemaMismatch,
    Unauthenticated,
)
from core.events import run_as, user

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.events.event import Event

ANN = {"iss": "https://id.x.org", "sub": "1", "email": "ann@x.org", "email_verified": True}


@pytest.fixture
def desk(core: Core) -> AccessDesk:
    return core.access_desk


def told(core: Core, type: str) -> list[dict[str, Any]]:
    return [dict(row.payload) for row in core.events.store.query(type=type).rows]


@pytest.mark.parametrize("role", ["viewer", "auditor", "tuner", "operator", "owner"])
def test_for_administrators_alone(desk: AccessDesk, role: str) -> None:
    """Nobody else sees or changes any of it."""
    with run_as(user("oidc:1", "Bob", [role])):
        for ask in (
            desk.rules,
            desk.tokens,
            lambda: desk.set_rule("bob@x.org", ["admin"]),
            lambda: desk.drop_rule("x"),
            lambda: desk.create_token("mine", ["admin"]),
            lambda: desk.revoke_token("x"),
            desk.people,
            lambda: desk.end_sessions("oidc:1"),
        ):
            with pytest.raises(Forbidden):
                ask()


def test_a_rule_holds_at_once(core: Core, desk: AccessDesk) -> None:
    """Made, lowered, dropped: the next look says so; told with roles before and after, by rule and not by address."""
    assert desk.rulebook.roles_of(ANN) == {"viewer"}
    assert desk.set_rule(" Ann@X.org", ["operator", "tuner"])
    assert desk.rulebook.roles_of(ANN) == {"operator", "tuner"}
    assert not desk.set_rule("ann@x.org", ["tuner", "operator"])
    assert desk.set_rule("ann@x.org", ["viewer"])
    assert desk.rulebook.roles_of(ANN) == {"viewer"}
    (rule,) = desk.rules()
    assert (rule.value, rule.origin, rule.by) == ("ann@x.org", "database", "Local operator")
    assert rule.id is not None
    desk.drop_rule(rule.id)
    with pytest.raises(NotFound):
        desk.drop_rule(rule.id)
    second, first = told(core, "RoleRuleSet")
    assert first == {"rule_id": rule.id, "kind": "email", "after": ["operator", "tuner"]}
    assert (second["before"], second["after"]) == (["operator", "tuner"], ["viewer"])
    events = core.events.store.query(app_id="access").rows
    assert "ann" not in json.dumps([dict(e.payload) for e in events]).lower()
    assert {e.actor.principal_id for e in events} == {"local"}


@pytest.mark.parametrize(("who", "roles"), [("nobody", ["viewer"]), ("a@x.org", []), ("a@x.org", ["root"])])
def test_what_is_no_rule(core: Core, desk: AccessDesk, who: str, roles: list[str]) -> None:
    """Refused before anything is written."""
    with pytest.raises(InputError):
        desk.set_rule(who, roles)
    assert told(core, "RoleRuleSet") == []


def test_the_last_administrator_stays(desk: AccessDesk) -> None:
    """With sign-in set up; without it everybody here has the local role, so it may go."""
    desk.set_rule("ann@x.org", ["admin"])
    (rule,) = desk.rules()
    assert rule.id is not None
    with pytest.raises(ConflictError, match="Nobody would be an administrator"):
        desk.drop_rule(rule.id)
    with pytest.raises(ConflictError, match="Nobody would be an administrator"):
        desk.set_rule("ann@x.org", ["viewer"])
    assert desk.rulebook.roles_of(ANN) == {"admin"}
    desk.drop_rule(rule.id, sign_in=False)
    assert desk.rules() == ()


@pytest.fixture
def with_settings(core: Core) -> Iterator[AccessDesk]:
    """A desk whose settings name an administrator."""
    env = {"MEMORY_DESK_DATA_DIR": "unused", "MEMORY_DESK_ADMINS": "root@x.org"}
    yield AccessDesk(core.db, core.events, core.clock, read_settings(env))


def test_administrators_of_the_settings_count(with_settings: AccessDesk) -> None:
    """Then the last one of the database may go; what the settings say of an address is not said again here."""
    with_settings.set_rule("ann@x.org", ["admin"])
    configured, stored = with_settings.rules()
    assert (configured.value, configured.origin, configured.id) == ("root@x.org", "configuration", None)
    with pytest.raises(ConflictError, match="settings"):
        with_settings.set_rule("root@x.org", ["viewer"])
    assert stored.id is not None
    with_settings.drop_rule(stored.id)


def test_not_oneself_by_accident(with_settings: AccessDesk) -> None:
    """Whoever would no longer be an administrator has to say that they mean it."""
    with_settings.set_rule("@x.org", ["admin"])
    with pytest.raises(OwnRole):
        with_settings.set_rule("ann@x.org", ["viewer"], me=ANN)
    with pytest.raises(OwnRole):
        with_settings.set_rule("@x.org", ["operator"], me=ANN)
    rule = with_settings.rules()[-1]
    assert rule.id is not None
    with pytest.raises(OwnRole):
        with_settings.drop_rule(rule.id, me=ANN)
    with_settings.set_rule("bob@x.org", ["viewer"], me=ANN)
    with_settings.drop_rule(rule.id, me=ANN, sure=True)
    assert with_settings.rulebook.roles_of(ANN) == {"viewer"}


class Rules(AccessStore):
    """A database that answers what a test wants."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.found: tuple[Any, ...] = ()
        self.asked = 0
        self.at = 0.0

    def rules(self) -> tuple[Any, ...]:
        self.asked += 1
        if self.failure:
            raise self.failure
        return self.found


def test_rules_while_the_database_is_away() -> None:
    """The last answer stands in for ten minutes; without one nobody is given a role that might have been lowered."""
    store = Rules()
    settings = read_settings({"MEMORY_DESK_DATA_DIR": "unused", "MEMORY_DESK_ADMINS": "root@x.org"})
    book = Rulebook(store, settings, lambda: store.at)
    store.failure = DatabaseUnavailable("away")
    with pytest.raises(DatabaseUnavailable):
        book.in_force()
    store.failure = None
    assert len(book.in_force()) == 1
    store.failure = DatabaseUnavailable("away")
    store.at = STALE_S
    assert len(book.in_force()) == 1
    store.at = STALE_S + FRESH_S + 1
    with pytest.raises(DatabaseUnavailable):
        book.in_force()


def test_rules_before_the_migration() -> None:
    """Those of the settings hold, so that somebody may sign in and migrate."""
    store = Rules()
    store.failure = SchemaMismatch("no such function")
    settings = read_settings({"MEMORY_DESK_DATA_DIR": "unused", "MEMORY_DESK_ADMINS": "ann@x.org"})
    assert Rulebook(store, settings).roles_of(ANN) == {"admin"}


def test_rules_are_asked_every_two_seconds() -> None:
    """Once in that time, and anew after a change here."""
    store = Rules()
    book = Rulebook(store, read_settings({"MEMORY_DESK_DATA_DIR": "unused"}), lambda: store.at)
    book.in_force()
    store.at = FRESH_S - 0.1
    book.in_force()
    assert store.asked == 1
    book.forget()
    book.in_force()
    store.at += FRESH_S
    book.in_force()
    assert store.asked == 3


def test_a_token_is_made_shown_once_and_revoked(core: Core, desk: AccessDesk, dsn: str) -> None:
    """Its secret is in no table and no event; revoked, it opens nothing at the very next call."""
    token, secret = desk.create_token(" Importer ", ["operator"], days=30)
    assert secret.startswith(f"md_{token.id}_") and token.name == "Importer"
    assert desk.bearer(secret).actor.roles == {"operator"}
    (listed,) = desk.tokens()
    assert listed.last_used_at is not None and listed.state(core.clock.now()) == "in force"
    assert listed.expires_at is not None and listed.expires_at - listed.created_at == timedelta(days=30)
    desk.revoke_token(token.id)
    desk.revoke_token(token.id)
    with pytest.raises(Unauthenticated, match="revoked"):
        desk.bearer(secret)
    assert desk.tokens()[0].state(core.clock.now()) == "revoked"
    (made,), (ended,) = told(core, "ApiTokenCreated"), told(core, "ApiTokenRevoked")
    assert (made["token_id"], made["roles"], made["unmasked"]) == (token.id, ["operator"], False)
    assert ended == {"token_id": token.id, "before": ["operator"]}
    with psycopg.connect(dsn) as connection:
        stored = str(connection.execute("select array_agg(t::text) from desk_api_tokens t").fetchone())
        events = str(connection.execute("select array_agg(e::text) from companion_events e").fetchone())
    assert digest(secret) in stored and digest(secret) not in events
    assert secret.rpartition("_")[2] not in stored + events


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"name": "  "}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": "a\nb"}, "name"),
        ({"roles": []}, "roles"),
        ({"roles": ["root"]}, "roles"),
        ({"days": 0}, "days"),
        ({"days": 4000}, "days"),
        ({"reveal_reason": "no"}, "reveal_reason"),
        ({"reveal_reason": "A report", "roles": ["operator"]}, "reveal_reason"),
    ],
)
def test_what_is_no_token_to_make(desk: AccessDesk, given: dict[str, Any], field: str) -> None:
    """Each refusal names its field, and nothing is made."""
    with pytest.raises(InputError) as refused:
        desk.create_token(**{"name": "Importer", "roles": ["viewer"], **given})
    assert refused.value.field == field
    assert desk.tokens() == ()


def test_an_unmasked_token_that_does_not_expire(core: Core, desk: AccessDesk) -> None:
    """Its reason is kept with it, masked, and not in the event."""
    _, secret = desk.create_token("Audit", ["auditor"], days=None, reveal_reason="Yearly audit, ask bob@x.org")
    assert desk.bearer(secret).reason == "Yearly audit, ask [e-mail]"
    (made,) = told(core, "ApiTokenCreated")
    assert made["unmasked"] is True and "expires_at" not in made and "Yearly" not in str(made)


def test_a_reason_that_grows_as_it_is_masked(desk: AccessDesk) -> None:
    """It is cut, so that it still fits."""
    token, _ = desk.create_token("Audit", ["auditor"], reveal_reason=" ".join(["a@b.co"] * 28))
    assert token.reveal_reason is not None and len(token.reveal_reason) == 200


def test_a_token_that_does_not_exist(desk: AccessDesk) -> None:
    """Revoking it is said to be nothing."""
    with pytest.raises(NotFound):
        desk.revoke_token("abcdefgh")


class People:
    """Somebody who keeps track of sign-ins: one person with two sessions."""

    def __init__(self, core: Core) -> None:
        self.core = core

    def people(self) -> tuple[Person, ...]:
        return (Person("oidc:1", "bob@x.org", frozenset({"viewer"}), self.core.clock.now(), 2),)

    def end_sessions(self, principal_id: str, at: datetime, event: Event) -> int | None:
        if principal_id != "oidc:1":
            return None
        self.core.events.store.append([event.row()])
        return 2


def test_people_and_the_end_of_their_sessions(core: Core, desk: AccessDesk) -> None:
    """Without sign-in nobody; ended with an event that names the person by a hash."""
    assert desk.people() == ()
    with pytest.raises(NotFound):
        desk.end_sessions("oidc:1")
    signed_in = AccessDesk(core.db, core.events, core.clock, core.settings, People(core))
    assert [p.display_name for p in signed_in.people()] == ["bob@x.org"]
    assert signed_in.end_sessions("oidc:1") == 2
    with pytest.raises(NotFound):
        signed_in.end_sessions("oidc:2")
    assert told(core, "SessionsEnded") == [{"person": "oidc:1"}]
