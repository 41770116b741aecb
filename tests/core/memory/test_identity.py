"""Ids, keys, and which of the two orders a request gets."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError, MissingIdentity
from core.memory.identity import FAVORITE_PATHS, RU_PATHS, TU_PATHS, Identity, resolve_identity
from core.memory.keys import generic_key, tips_key
from core.memory.notices import Findings


def resolve(body: dict[str, Any], payload: Any = None) -> Identity:
    return resolve_identity(body, payload, Findings())


def nested(path: str, value: Any) -> dict[str, Any]:
    for key in reversed(path.split(".")):
        value = {key: value}
    return value  # type: ignore[no-any-return]


def test_explicit_tips_pair() -> None:
    """ruId and tuId give the tips key, numbers as text, whatever the payload says."""
    found = resolve({"ruId": 1001, "tuId": "2002"}, {"clientId": "other", "womanId": "other"})
    assert (found.ru_id, found.tu_id) == ("1001", "2002")
    assert found.dialog_key == tips_key("1001", "2002") and found.key_order == "tips"


@pytest.mark.parametrize(
    ("body", "payload"),
    [
        ({"clientId": "r", "womanId": "t"}, None),
        ({}, {"clientId": "r", "womanId": "t"}),
        ({"clientId": "r"}, {"womanId": "t"}),
        ({"ruId": "r"}, {"womanId": "t"}),
        ({"ruId": "r", "womanId": "t"}, None),
        ({"clientId": "r", "tuId": "t"}, None),
    ],
)
def test_any_other_mix_is_generic(body: dict[str, Any], payload: Any) -> None:
    """Only ruId and tuId together mean the tips flow; all else is TU before RU."""
    found = resolve(body, payload)
    assert (found.dialog_key, found.key_order) == (generic_key("t", "r"), "generic")


def test_dialog_key_is_kept() -> None:
    """A given key stays character for character, and no id is needed beside it."""
    key = ' k"1,2\\3(x)/y+z %2F ü '
    found = resolve({"dialogKey": key})
    assert found == Identity(key, "custom", None, None, key)
    assert resolve({"dialogKey": key, "ruId": "r", "tuId": "t"}).dialog_key == key
    assert resolve({"dialogKey": generic_key("t", "r"), "ruId": "r", "tuId": "t"}).key_order == "generic"


@pytest.mark.parametrize("value", ["a\0", "\ud800", "x" * 513, " " * 513 + "x", [], True])
def test_unusable_dialog_key(value: Any) -> None:
    """A key that cannot be stored as it is is refused, not altered."""
    with pytest.raises(InputError) as caught:
        resolve({"dialogKey": value})
    assert caught.value.field == "dialogKey"


@pytest.mark.parametrize(
    ("body", "field", "named"),
    [
        ({}, "ruId", "ruId and tuId"),
        ({"tuId": "t"}, "ruId", "ruId"),
        ({"ruId": "r"}, "tuId", "tuId"),
        ({"clientId": "r"}, "womanId", "womanId"),
        ({"womanId": "t"}, "clientId", "clientId"),
        ({"ruId": "unknown-client", "tuId": "t"}, "ruId", "ruId"),
        ({"ruId": "r", "womanId": "unknown-woman"}, "tuId", "tuId"),
        ({"dialogKey": " ", "ruId": "r"}, "tuId", "tuId"),
    ],
)
def test_missing_id_is_named(body: dict[str, Any], field: str, named: str) -> None:
    """422 naming the id, in the words of the request; a placeholder is no id."""
    with pytest.raises(MissingIdentity) as caught:
        resolve(body)
    assert (caught.value.field, caught.value.status) == (field, 422)
    assert caught.value.what.startswith(f"{named} ")


@pytest.mark.parametrize("path", RU_PATHS)
def test_ru_paths(path: str) -> None:
    """Every place of an RU id is looked at."""
    assert resolve({"tuId": "t"}, nested(path, 5)).ru_id == "5"


@pytest.mark.parametrize("path", TU_PATHS)
def test_tu_paths(path: str) -> None:
    """Every place of a TU id is looked at."""
    assert resolve({"ruId": "r"}, nested(path, "t")).tu_id == "t"


@pytest.mark.parametrize("path", FAVORITE_PATHS)
def test_favorite_paths(path: str) -> None:
    """Every place of a favourite id is looked at; explicit wins, the key is the last resort."""
    body = {"ruId": "r", "tuId": "t"}
    assert resolve(body, nested(path, "f")).favorite_id == "f"
    assert resolve({**body, "favoriteId": 9}, nested(path, "f")).favorite_id == "9"
    assert resolve(body).favorite_id == tips_key("r", "t")


def test_first_usable_hit_wins() -> None:
    """Booleans, containers, over-long texts and placeholders are passed over with a notice, nulls without."""
    payload = {
        "data": {"favorite": {"clientId": None, "profile": {"id": True, "ulid_id": "x" * 300}}},
        "favorite": {"clientId": ["x"], "profile": {"id": "unknown-client", "ulid_id": "right"}},
        "clientId": "late",
    }
    findings = Findings()
    assert resolve_identity({"tuId": "t"}, payload, findings).ru_id == "right"
    assert [n.field for n in findings.notices() if n.kind == "malformed"] == [
        "favorite.clientId",
        "data.favorite.profile.id",
        "data.favorite.profile.ulid_id",
    ]


def test_contradiction_is_told() -> None:
    """ruId wins over a different clientId, and the result says so."""
    findings = Findings()
    assert resolve_identity({"ruId": "a", "clientId": "b", "tuId": "t"}, None, findings).ru_id == "a"
    assert [n.field for n in findings.notices()] == ["ruId"]
