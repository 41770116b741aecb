"""From a request to rows: identities, payloads as they came, what is refused and what is only noted. Pure."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from core.canonical import content_hash
from core.errors import InputError, MissingIdentity
from core.memory.keys import tips_key
from core.memory.payload import normalise
from core.services.capture import DaySnapshots, read_snapshots, snapshots_of_ingest
from tests.support.dialogs import body as ingest_body

TODAY = date(2026, 11, 30)
PAIR = {"ruId": "ru-1", "tuId": "tu-9"}


def read(**body: Any) -> DaySnapshots:
    return read_snapshots({**PAIR, **body}, TODAY)


def test_every_kind_of_entity() -> None:
    """Type, role, identity and payload of each, as the table of the specification has them."""
    found = read(
        family="tips",
        profileRu={"name": "Ann", "age": 34},
        profileTu='{"name": "Olena"}',
        photoRu="https://example.org/1.jpg",
        photoTu={"url": "https://example.org/2.jpg", "analysis": {"mood": "calm"}},
        notes=[
            {"date": "2026-05-20", "text": "Привіт, світе", "timestamp": 1747735200, "id": "n1"},
            {"date": "2026-05-21", "text": "dated"},
            {"text": "bare"},
        ],
        dialog=[
            {"date": "2026-05-21T09:12:00Z", "initiator": "ru", "text": "hello"},
            {"initiator": "tu", "text": "hi"},
        ],
    )
    assert found.dialog_key == tips_key("ru-1", "tu-9")
    assert [(r.entity_type, r.source_role, r.source_id) for r in found.rows] == [
        ("profile", "ru", "ru"),
        ("photo", "ru", "ru"),
        ("profile", "tu", "tu"),
        ("photo", "tu", "tu"),
        ("note", "", "1747735200"),
        ("note", "", "2026-05-21"),
        ("note", "", "2"),
        ("dialog", "", "2026-05-21T09:12:00Z:ru"),
        ("dialog", "", "1:tu"),
    ]
    assert found.rows[1].payload == {"url": "https://example.org/1.jpg"}
    # the golden hash of the existing backend for this very note
    assert content_hash(found.rows[4].payload) == "e0ec9166dc92a047bcf85cc881e48243c1cffec18e0c392cbfa37da9eb84338a"
    assert found.rows[5].payload == {"date": "2026-05-21", "text": "dated"}
    assert found.rows[4].entity_at == "2025-05-20T10:00:00+00:00"
    assert {(r.sync_date, r.family, r.ru_id, r.tu_id) for r in found.rows} == {("2026-11-30", "tips", "ru-1", "tu-9")}
    assert found.notices == ()


def test_an_empty_profile_is_a_profile() -> None:
    """Case 11: {} is an entity of that day, null is none."""
    assert [r.payload for r in read(profileRu={}, profileTu=None).rows] == [{}]


def test_two_with_one_identity() -> None:
    """The later wins, and it is said."""
    lines = [{"date": "d", "initiator": "ru", "text": text} for text in ("first", "second")]
    found = read(dialog=lines)
    assert [r.text for r in found.rows] == ["second"]
    assert [n.field for n in found.notices] == ["snapshots"]


def test_the_mark_of_a_completed_sync() -> None:
    """It is upstream's: noted, never written."""
    found = read(completed=True)
    assert found.rows == ()
    assert [n.field for n in found.notices] == ["completed"]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"syncDate": "30.11.2026"}, "syncDate"),
        ({"syncDate": "2026-02-30"}, "syncDate"),
        ({"syncDate": 5}, "syncDate"),
        ({"profileRu": [1]}, "profileRu"),
        ({"profileTu": "no json"}, "profileTu"),
        ({"photoRu": 7}, "photoRu"),
        ({"notes": {"text": "x"}}, "notes"),
        ({"dialog": "x"}, "dialog"),
        ({"profileRu": json.loads("[" * 150 + "]" * 150) and {"a": json.loads("[" * 150 + "]" * 150)}}, "profileRu"),
    ],
)
def test_what_is_refused(body: dict[str, Any], field: str) -> None:
    """Arguments of an unusable kind, by name."""
    with pytest.raises(InputError) as refused:
        read(**body)
    assert refused.value.field == field


def test_a_missing_id() -> None:
    """Without a pair nobody knows whose snapshot it is."""
    with pytest.raises(MissingIdentity):
        read_snapshots({"ruId": "ru-1"}, TODAY)
    assert read_snapshots({"dialogKey": 'k"1 /'}, TODAY).dialog_key == 'k"1 /'


def test_odd_entries_are_dropped_and_counted() -> None:
    """Nulls, numbers and notes without a text do not stop the rest."""
    found = read(notes=[None, 5, {"date": "2026-05-20"}, "plain text"], dialog=[None, {}])
    assert [(r.entity_type, r.source_id) for r in found.rows] == [("note", "3"), ("dialog", "1:")]
    assert {(n.field, n.count) for n in found.notices} == {("notes", 2), ("notes", 1), ("dialog", 1)}


def test_snapshots_of_an_ingest() -> None:
    """Profile and notes as they came, the photo's URL, each message a line; under the key of the chunks."""
    body = ingest_body("k1", messages=3)
    found = snapshots_of_ingest(body, normalise(body), TODAY)
    kinds = [r.entity_type for r in found.rows]
    assert {k: kinds.count(k) for k in dict.fromkeys(kinds)} == {"profile": 1, "photo": 1, "note": 2, "dialog": 3}
    assert {r.dialog_key for r in found.rows} == {"k1"}
    assert found.rows[0].payload["city"] == {"name": "Lviv"}
    assert [r.initiator for r in found.rows if r.entity_type == "dialog"] == ["ru", "tu", "ru"]
