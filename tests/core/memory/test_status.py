"""Freshness of a pair, under which of its keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from core.errors import MissingIdentity
from core.memory.keys import both_keys
from core.memory.status import pair_status
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core

TIPS, GENERIC = both_keys("ru-1", "tu-9")


def test_a_pair_that_nobody_ingested_has_zeros_and_no_times(core: Core) -> None:
    """Unknown is not an error: all five sources are there with 0."""
    answer = pair_status(core.dialogs, "ru-1", "tu-9").as_json()
    assert answer == {
        "dialogKey": TIPS,
        "lastNoteAt": None,
        "lastMessageAt": None,
        "profileUpdatedAt": None,
        "photoUpdatedAt": None,
        "counts": {"note": 0, "profile": 0, "photo": 0, "summary": 0, "conversation": 0},
        "alsoUnder": None,
    }


def test_the_tips_key_is_read_and_the_other_order_named(core: Core) -> None:
    """Rows under TU before RU are not mixed in; `alsoUnder` says where they are."""
    core.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9", messages=3))
    assert pair_status(core.dialogs, "ru-1", "tu-9").also_under is None
    core.ingest.ingest(body(None, messages=1))
    found = pair_status(core.dialogs, "ru-1", "tu-9")
    assert (found.dialog_key, found.also_under) == (TIPS, GENERIC)
    assert found.status.counts["conversation"] == 3
    assert found.as_json()["lastNoteAt"] == "2026-05-11"
    assert found.as_json()["lastMessageAt"].startswith("2026-05-01T03:00:00")


def test_an_ingest_that_changed_nothing_is_still_news(core: Core) -> None:
    """The profile was seen again: its time moves although its rows were not rewritten."""
    core.ingest.ingest(body("k1"))
    before = core.dialogs.status(["k1"])["k1"]
    core.ingest.ingest(body("k1"))
    after = core.dialogs.status(["k1"])["k1"]
    assert before.profile_updated_at and after.profile_updated_at
    assert after.profile_updated_at > before.profile_updated_at
    assert after.counts == before.counts


@pytest.mark.parametrize(("ru", "tu", "field"), [(None, "t", "ruId"), ("r", "  ", "tuId"), ("", "", "ruId")])
def test_a_missing_id_is_named(core: Core, ru: object, tu: object, field: str) -> None:
    """422 and the field, before any question to the database."""
    with pytest.raises(MissingIdentity) as refused:
        pair_status(core.dialogs, ru, tu)
    assert refused.value.field == field


def test_numbers_are_ids_too(core: Core) -> None:
    """1001 and "1001" are one id."""
    assert pair_status(core.dialogs, 1001, 2002).dialog_key == both_keys("1001", "2002")[0]
