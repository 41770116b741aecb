"""An event as lines."""

from __future__ import annotations

from datetime import UTC, datetime

from core.events.actor import ai, user
from core.events.store import StoredEvent
from pages._shared.activity.facts import FIELDS, Fact, facts, row, target, why


def _event(payload: dict[str, object], **fields: object) -> StoredEvent:
    given = {"seq": 7, "id": "e", "type": "X", "event_class": "audit", "timestamp": datetime(2026, 11, 30, tzinfo=UTC)}
    given |= {"app_id": "memory", "actor": user("local", "Local"), "collection": None, "record_id": None}
    given |= {"user_id": None, "caused_by": None, "payload": payload, **fields}
    return StoredEvent(**given)  # type: ignore[arg-type]


def test_before_and_after() -> None:
    """Pairs by their names, first; what stands alone is a fact; what is empty is left out."""
    found = facts(
        {"count": 12345, "prev_hash": "a", "new_hash": "b", "from_model": "m1", "to_model": "m2", "gone": None}
    )
    assert found == (Fact("hash", "a", "b"), Fact("model", "m1", "m2"), Fact("count", None, "12,345"))


def test_a_half_of_a_pair_is_a_fact() -> None:
    """`new_hash` without a former one says only what is so now."""
    assert facts({"new_hash": "b", "from_seq": 3}) == (Fact("new hash", None, "b"), Fact("from seq", None, "3"))


def test_lists_and_maps() -> None:
    """In words."""
    found = facts({"by_source": {"note": 2, "photo": 1}, "ids": ["a", "b"], "ok": False, "share": 0.5})
    assert [f.after for f in found] == ["note 2, photo 1", "a, b", "no", "0.5"]


def test_target_and_reason() -> None:
    """The record, else what the payload names; the event's reason, else the AI's."""
    actor = ai("m", "Model", mission_id="1", iteration_id="1", rationale="because")
    assert target(_event({"dialog_key": "k"})) == "k" and target(_event({"dialog_key": "k"}, record_id="r")) == "r"
    assert target(_event({})) == "" and why(_event({"reason": "stale"})) == "stale"
    assert why(_event({}, actor=actor)) == "because" and why(_event({})) == ""


def test_a_row_has_every_field() -> None:
    """What the file holds."""
    made = row(_event({"prev_hash": "a", "new_hash": "b", "n": 1}))
    assert set(made) == set(FIELDS)
    assert (made["before"], made["after"]) == ("hash a", "hash b, n 1")
