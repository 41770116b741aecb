"""How sign-in is set up, who somebody is by their claims, and whether their sign-in still holds."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from core.access.rulebook import Rulebook
from core.access.sessions import NotSignedIn, Sessions
from core.access.sign_in import providers, sign_in_of
from core.access.store import AccessStore
from core.clock import FixedClock
from core.config import read_settings
from core.db.client import Database
from core.errors import DatabaseUnavailable
from core.events.emitter import Events, open_events
from core.local.server import Endpoint

NOW = datetime(2026, 12, 1, 9, 0, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "redirect_uri": "https://desk.example.org/oauth2callback",
    "cookie_secret": "q9Zl2mVx7KpR4tWb8NcYd1sGhJf5uEaQ",
    "staff": {
        "client_id": "desk",
        "client_secret": "s",
        "server_metadata_url": "https://id.example.org/.well-known/openid-configuration",
    },
}


def claims(subject: str = "ann", minutes: float = 5, **more: Any) -> dict[str, Any]:
    began = int((NOW - timedelta(minutes=minutes)).timestamp())
    said = {
        "iss": "https://id.example.org",
        "sub": subject,
        "iat": began,
        "nonce": f"n-{subject}",
        "is_logged_in": True,
    }
    return {**said, "is_logged_in": True, "email": f"{subject}@example.org", "email_verified": True, **more}


def test_a_good_section() -> None:
    """One provider with a name, one without."""
    found, problems = providers(GOOD)
    assert not problems and [(p.name, p.title) for p in found] == [("staff", "Staff")]
    plain = {**GOOD["staff"], **{k: GOOD[k] for k in ("redirect_uri", "cookie_secret")}}
    found, problems = providers(plain)
    assert not problems and [(p.name, p.title) for p in found] == [("", "id.example.org")]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"redirect_uri": "https://desk.example.org/callback"}, "auth.redirect_uri"),
        ({"redirect_uri": None}, "auth.redirect_uri"),
        ({"cookie_secret": "short"}, "auth.cookie_secret"),
        ({"cookie_secret": "changeme-changeme-changeme-changeme"}, "auth.cookie_secret"),
        ({"cookie_secret": 40 * "a"}, "auth.cookie_secret"),
        ({"staff": {**GOOD["staff"], "client_secret": " "}}, "auth.staff.client_secret"),
        ({"staff": {**GOOD["staff"], "server_metadata_url": "id.example.org"}}, "auth.staff.server_metadata_url"),
        ({"staff": {"client": "desk"}}, "auth.staff.client_id"),
        ({"staff": "desk"}, "auth names no provider"),
        ({"my_staff": GOOD["staff"]}, "auth.my_staff"),
    ],
)
def test_what_is_wrong_is_named_and_no_value_repeated(change: dict[str, Any], named: str) -> None:
    """Every problem by its key."""
    _, problems = providers({**GOOD, **change})
    assert any(problem.startswith(named) for problem in problems)
    assert not any(str(value) in " ".join(problems) for value in change.values() if isinstance(value, str))


@pytest.mark.parametrize(
    "change",
    [{"is_logged_in": False}, {"is_logged_in": "yes"}, {"sub": None}, {"sub": ""}, {"iat": None}, {"iat": "now"}],
)
def test_claims_of_nobody(change: dict[str, Any]) -> None:
    """Without a subject or a moment nobody has signed in."""
    assert sign_in_of(claims(**change)) is None
    assert sign_in_of({}) is None


def test_who_it_is() -> None:
    """A hash of provider and subject; no token among what is kept; two sign-ins of one person differ."""
    one, other = sign_in_of(claims(groups=["ops"])), sign_in_of(claims(nonce="later"))
    assert one and other and one.principal_id == other.principal_id and one.id != other.id
    assert one.display_name == "ann@example.org" and "ann" not in one.principal_id
    assert set(one.claims) == {"iss", "sub", "email", "email_verified", "groups"}
    elsewhere = sign_in_of(claims(iss="https://other.example"))
    assert elsewhere and elsewhere.principal_id != one.principal_id


class Room:
    def __init__(self, db: Database, events: Events, clock: FixedClock) -> None:
        self.db, self.events, self.clock, self.seconds = db, events, clock, 0.0
        self.settings = read_settings({"MEMORY_DESK_ADMINS": "ann@example.org"})

    def sessions(self) -> Sessions:
        book = Rulebook(AccessStore(self.db), self.settings, lambda: self.seconds)
        return Sessions(self.db, self.events, self.clock, book, 12, lambda: self.seconds)

    def told(self) -> list[str]:
        self.events.flush()
        return [e.type for e in reversed(self.events.store.query(app_id="access").rows)]


@pytest.fixture
def room(endpoint: Endpoint, tmp_path: Path) -> Iterator[Room]:
    clock = FixedClock(NOW)
    db = Database(endpoint.url, endpoint.service_role_key)
    events = open_events(db, tmp_path / "spool", clock)
    yield Room(db, events, clock)
    events.close(5)
    db.close()


def test_a_sign_in_holds_for_as_long_as_the_settings_say(room: Room) -> None:
    """Counted from the moment of the id token; one from the future, or from long ago, is none. Told once."""
    sessions = room.sessions()
    actor = sessions.actor_of(claims())
    assert actor.roles == {"admin"} and actor.display_name == "ann@example.org"
    assert sessions.actor_of(claims("bob")).roles == {"viewer"}
    room.seconds += 5
    sessions.actor_of(claims())
    assert room.told() == ["SignedIn"] * 2
    for minutes in (12 * 60, 12 * 60 + 1, -6):
        with pytest.raises(NotSignedIn) as over:
            sessions.actor_of(claims(minutes=minutes))
        assert over.value.why == "expired" and over.value.status == 401
    with pytest.raises(NotSignedIn) as nobody:
        sessions.actor_of({})
    assert nobody.value.why == "nobody"


def test_signing_out_ends_every_copy(room: Room) -> None:
    """At once here, and in another process within two seconds; another sign-in of the same person goes on."""
    here, there = room.sessions(), room.sessions()
    for one in (here, there):
        one.actor_of(claims())
        one.actor_of(claims(nonce="phone"))
    here.end(claims())
    here.end(claims())
    with pytest.raises(NotSignedIn) as over:
        here.actor_of(claims())
    assert over.value.why == "ended"
    room.seconds += 2.1
    with pytest.raises(NotSignedIn):
        there.actor_of(claims())
    assert there.actor_of(claims(nonce="phone")) and here.actor_of(claims(nonce="phone"))
    assert room.told().count("SignedOut") == 1


def test_a_refusal_is_told_once_an_hour(room: Room) -> None:
    """With why, by a hash alone; not of the browser that is just leaving, but of a copy of its cookie later."""
    sessions = room.sessions()
    sessions.actor_of(claims("eve", email_verified=True, email="eve@elsewhere.example"))
    sessions.actor_of(claims())
    sessions.end(claims())
    for wait in (0.0, 59.0, 2.0, 3000.0, 601.0):
        room.seconds += wait
        with pytest.raises(NotSignedIn):
            sessions.actor_of(claims())
    with pytest.raises(NotSignedIn):
        sessions.actor_of(claims("bob", minutes=800))
    room.events.flush()
    found = [e for e in room.events.store.query(app_id="access").rows if e.type == "SignInRefused"]
    assert [e.payload["why"] for e in reversed(found)] == ["ended", "ended", "expired"]
    assert "@" not in str([e.payload for e in found])


def test_somebody_without_a_role_is_told(room: Room) -> None:
    """They are known, and may nothing."""
    room.settings = read_settings({"MEMORY_DESK_DEFAULT_ROLE": "none"})
    assert room.sessions().actor_of(claims("eve")).roles == frozenset()
    assert sorted(room.told()) == ["SignInRefused", "SignedIn"]


def test_an_administrator_ends_them_all(room: Room) -> None:
    """Also a sign-in that this database has not seen yet; a later one holds."""
    sessions = room.sessions()
    ann = sessions.actor_of(claims())
    sessions.actor_of(claims(nonce="phone"))
    (person,) = sessions.people()
    assert (person.principal_id, person.roles, person.sessions) == (ann.principal_id, {"admin"}, 2)
    event = room.events.prepare("SessionsEnded", {"person": ann.principal_id})
    assert sessions.end_sessions(ann.principal_id, NOW, event) == 2
    for nonce in ("n-ann", "phone", "never seen"):
        with pytest.raises(NotSignedIn):
            sessions.actor_of(claims(nonce=nonce))
    assert sessions.people()[0].sessions == 0
    assert sessions.actor_of(claims(nonce="again", minutes=-1))
    event = room.events.prepare("SessionsEnded", {"person": "oidc:nobody"})
    assert sessions.end_sessions("oidc:nobody", NOW, event) is None


def test_a_lowered_role_counts_within_two_seconds(room: Room, dsn: str) -> None:
    """A rule of the database, changed by somebody else."""
    sessions = room.sessions()
    with psycopg.connect(dsn, autocommit=True) as db:
        db.execute(
            "insert into desk_role_rules (id, kind, value, roles, set_by, set_at) "
            "values (gen_random_uuid(), 'email', 'bob@example.org', '{operator}', 'ann', now())"
        )
        assert sessions.actor_of(claims("bob")).roles == {"operator"}
        db.execute("update desk_role_rules set dropped_at = now()")
        room.seconds += 2.1
        assert sessions.actor_of(claims("bob")).roles == {"viewer"}


def test_while_the_database_is_away(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever was let in stays in for ten minutes, whoever was put out stays out, and nobody new comes in."""
    sessions = room.sessions()
    sessions.actor_of(claims())
    sessions.actor_of(claims("bob"))
    sessions.end(claims("bob"))

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("Gone.")

    monkeypatch.setattr(Database, "rpc", gone)
    room.seconds += 60
    assert sessions.actor_of(claims()).roles == {"admin"}
    with pytest.raises(NotSignedIn):
        sessions.actor_of(claims("bob"))
    with pytest.raises(DatabaseUnavailable):
        sessions.actor_of(claims("eve"))
    room.seconds += 601
    with pytest.raises(DatabaseUnavailable):
        sessions.actor_of(claims())
