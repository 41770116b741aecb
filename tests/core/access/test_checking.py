"""Tokens that are shown: asked of the database once in five seconds, and never believed longer than they hold."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from core.access.checking import FRESH_S, TokenCheck
from core.access.tokens import new_token
from core.errors import DatabaseUnavailable, Unauthenticated

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
TOKEN = new_token()[1]


class Store:
    """A database with one token, a clock, and seconds that somebody else moves."""

    def __init__(self, **row: Any) -> None:
        self.row: Mapping[str, Any] = {
            "id": "abcdefgh",
            "name": "Importer",
            "roles": ["viewer"],
            "reveal_reason": None,
            "expires_at": None,
            "expired": False,
            "revoked": False,
            **row,
        }
        self.asked = 0
        self.at = 0.0
        self.away = False

    def check(self, hash: str, now: datetime) -> Mapping[str, Any]:
        self.asked += 1
        assert TOKEN not in hash and len(hash) == 64
        if self.away:
            raise DatabaseUnavailable("The memory database does not answer.")
        return self.row

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.at)

    def seconds(self) -> float:
        return self.at


def checking(store: Store) -> TokenCheck:
    return TokenCheck(store, store, store.seconds)  # type: ignore[arg-type]


def test_the_actor_of_a_token() -> None:
    """Its id, its name and its roles; unmasked only where it has a reason and a role that may."""
    bearer = checking(Store(reveal_reason="Nightly export"))(TOKEN)
    assert (bearer.actor.principal_id, bearer.actor.display_name) == ("token:abcdefgh", "Importer")
    assert bearer.actor.roles == {"viewer"} and bearer.reason is None
    assert checking(Store(roles=["auditor"], reveal_reason="Nightly export"))(TOKEN).reason == "Nightly export"
    assert checking(Store(roles=["admin"]))(TOKEN).reason is None


@pytest.mark.parametrize(
    "token",
    ["", "md_", "sesame", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), f"{TOKEN}\n", "md_é_ß"],
    ids=["none", "prefix", "word", "short", "long", "upper", "line", "letters"],
)
def test_what_is_no_token(token: str) -> None:
    """Refused without a question to the database."""
    store = Store()
    with pytest.raises(Unauthenticated, match="not valid"):
        checking(store)(token)
    assert store.asked == 0


@pytest.mark.parametrize(
    ("row", "said"), [({"revoked": True, "expired": True}, "revoked"), ({"expired": True}, "expired")]
)
def test_a_token_that_is_over(row: dict[str, Any], said: str) -> None:
    """Says which it is, to whoever shows the whole of it, and is asked about every time."""
    store = Store(**row)
    check = checking(store)
    for _ in range(2):
        with pytest.raises(Unauthenticated, match=said):
            check(TOKEN)
    assert store.asked == 2


def test_an_unknown_token() -> None:
    """Not valid, as one that is no token at all; one made a moment later is found."""
    store = Store()
    known, store.row = store.row, {}
    check = checking(store)
    with pytest.raises(Unauthenticated, match="not valid"):
        check(TOKEN)
    store.row = known
    assert check(TOKEN).actor.display_name == "Importer"


def test_remembered_for_five_seconds() -> None:
    """Within them no question; after them what another process revoked is refused."""
    store = Store()
    check = checking(store)
    check(TOKEN)
    store.row = {**store.row, "revoked": True}
    store.at = FRESH_S - 0.1
    check(TOKEN)
    assert store.asked == 1
    store.at = FRESH_S
    with pytest.raises(Unauthenticated, match="revoked"):
        check(TOKEN)


def test_revoked_here() -> None:
    """It is refused at the next call, also where the database was answering just then."""
    store = Store()
    check = checking(store)
    check(TOKEN)
    check.forget()
    store.row = {**store.row, "revoked": True}
    with pytest.raises(Unauthenticated, match="revoked"):
        check(TOKEN)

    class Slow(Store):
        def check(self, hash: str, now: datetime) -> Mapping[str, Any]:
            answer = super().check(hash, now)
            if self.asked == 1:
                late.forget()
                self.row = {**self.row, "revoked": True}
            return answer

    slow = Slow()
    late = checking(slow)
    late(TOKEN)
    with pytest.raises(Unauthenticated, match="revoked"):
        late(TOKEN)


def test_it_expires_while_it_is_remembered() -> None:
    """At its very moment."""
    store = Store(expires_at=(NOON + timedelta(seconds=2)).isoformat())
    check = checking(store)
    check(TOKEN)
    store.at = 2
    with pytest.raises(Unauthenticated, match="expired"):
        check(TOKEN)
    assert store.asked == 1


def test_a_database_that_is_away() -> None:
    """Nobody is told that their token is wrong; what was remembered holds for its seconds and no longer."""
    store = Store()
    check = checking(store)
    check(TOKEN)
    store.away = True
    check(TOKEN)
    store.at = FRESH_S
    with pytest.raises(DatabaseUnavailable):
        check(TOKEN)
