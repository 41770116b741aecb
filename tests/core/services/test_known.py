"""Whom the texts of a dialog may name: asked once a minute, under both orders of a pair, forgotten when it changes."""

from __future__ import annotations

from typing import Any

import pytest

from core.bootstrap import Core
from core.services.known import AT_ONCE, KEPT, KnownPeople

PROFILE = {"name": "Андрій"}


class Counted:
    """A database that answers for every dialog with one name, and counts."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.name = "Олена"

    def rpc(self, name: str, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        assert name == "desk_known_people"
        self.asked.append(params["p_dialog_keys"])
        return {key: {"names": [self.name], "ids": []} for key in params["p_dialog_keys"]}


class Ticking:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def db() -> Counted:
    return Counted()


def people(db: Counted, now: Ticking) -> KnownPeople:
    return KnownPeople(db, now=now)  # type: ignore[arg-type]


def test_a_page_of_dialogs_is_one_question_a_minute(db: Counted) -> None:
    """Asked again only for those that are not kept, or kept for a minute."""
    now = Ticking()
    known = people(db, now)
    assert known.masks(["a", "b", "a"])["b"].text("з Оленою") == "з [name]"
    known.masks(["a", "b", "c"])
    now.now = 60.0
    known.mask("a")
    assert db.asked == [["a", "b"], ["c"], ["a"]]


def test_it_is_bounded(db: Counted) -> None:
    """So many dialogs at once, so many kept."""
    known = people(db, Ticking())
    known.masks(str(n) for n in range(KEPT + 1))
    assert max(map(len, db.asked)) == AT_ONCE
    asked = len(db.asked)
    known.mask(str(KEPT))
    assert len(db.asked) == asked
    known.mask("0")
    assert db.asked[asked:] == [["0"]]


def test_nothing_that_changed_meanwhile_is_kept(db: Counted) -> None:
    """An answer under way while names change serves its own question and no other."""
    known = people(db, Ticking())
    answer = db.rpc

    def changes(name: str, params: dict[str, Any], **_: Any) -> dict[str, Any]:
        found = answer(name, params)
        known.forget()
        return found

    db.rpc = changes  # type: ignore[method-assign]
    known.mask("a")
    db.rpc = answer  # type: ignore[method-assign]
    db.name = "Марія"
    assert known.mask("a").text("Марії") == "[name]"


def test_both_orders_of_a_pair_and_an_ingest(core: Core) -> None:
    """A name under one key is masked under the other; a new profile is known at once in this process."""
    ids = {"ru": "70312", "tu": "3101"}
    messages = {"messages": [{"id": 1, "body": "Привіт", "sent_at": "2026-11-01T10:00:00Z", "is_incoming": True}]}
    tips = core.ingest.ingest({"ruId": ids["ru"], "tuId": ids["tu"], "conversationJson": messages}).dialog_key
    own = core.ingest.ingest(
        {"clientId": ids["ru"], "womanId": ids["tu"], "conversationJson": messages, "profileJson": PROFILE}
    ).dialog_key
    assert tips != own
    written = "Андрієві з 70312 від 3101"
    assert core.veil.text(written, tips) == core.veil.text(written, own) == "[name] з [id] від [id]"
    core.ingest.ingest(
        {"ruId": ids["ru"], "tuId": ids["tu"], "conversationJson": messages, "profileJson": {"name": "Остап"}}
    )
    assert core.veil.text("Остапом", tips) == "[name]"
