"""Bodies of `POST /memory/search`: what is accepted, clamped, refused, and which field is named."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError, MissingIdentity
from core.memory.keys import generic_key, tips_key
from core.memory.requests import parse_limit, parse_search, parse_weights


def test_every_way_to_name_a_dialog() -> None:
    """A key is kept; ruId and tuId give the tips key, clientId and womanId the generic one; the RU id is passed on."""
    assert parse_search({"query": "q", "dialogKey": "k"}).dialog_key == "k"
    tips = parse_search({"query": "q", "ruId": "ru-1", "tuId": "tu-9"})
    assert (tips.dialog_key, tips.client_id) == (tips_key("ru-1", "tu-9"), "ru-1")
    generic = parse_search({"query": "q", "clientId": 1001, "womanId": 2002})
    assert (generic.dialog_key, generic.client_id) == (generic_key("2002", "1001"), "1001")


def test_an_odd_dialog_key_is_kept_character_by_character() -> None:
    """Quotes, commas, slashes, plus signs and percent signs are part of a key."""
    key = 'k"1,2\\3(x)/y+z %2F ü'
    assert parse_search({"query": "q", "dialogKey": key}).dialog_key == key


def test_a_missing_id_is_422_and_named() -> None:
    """Half a pair is no dialog."""
    with pytest.raises(MissingIdentity) as refused:
        parse_search({"query": "q", "ruId": "ru-1"})
    assert (refused.value.status, refused.value.field) == (422, "tuId")


@pytest.mark.parametrize(
    ("value", "limit"),
    [(None, 12), (0, 1), (-5, 1), (24, 24), (50, 24), (10**400, 24), (float("inf"), 24), ("7", 7), (3.9, 3)],
)
def test_a_limit_out_of_range_is_clamped(value: Any, limit: int) -> None:
    """1 to 24, the default 12."""
    assert parse_limit(value) == limit


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query"),
        ({"query": " \u200b "}, "query"),
        ({"query": 5}, "query"),
        ({"query": ["a"]}, "query"),
        ({"query": "q", "limit": "many"}, "limit"),
        ({"query": "q", "limit": True}, "limit"),
        ({"query": "q", "limit": float("nan")}, "limit"),
        ({"query": "q", "limit": []}, "limit"),
        ({"query": "q", "sourceWeights": [0.1]}, "sourceWeights"),
        ({"query": "q", "sourceWeights": {"notes": 0.1}}, "sourceWeights"),
        ({"query": "q", "sourceWeights": {"note": "much"}}, "sourceWeights.note"),
        ({"query": "q", "sourceWeights": {"note": float("inf")}}, "sourceWeights.note"),
        ({"query": "q", "sourceWeights": {"note": True}}, "sourceWeights.note"),
        ({"query": "q", "explain": "yes"}, "explain"),
        ({"query": "q", "allowFallback": 1}, "allowFallback"),
        ({"query": "q", "composeMode": "draft"}, "composeMode"),
        ({"query": "q", "requestId": {}}, "requestId"),
        ({"query": "q", "conversationJson": "{not json"}, "conversationJson"),
        ({"query": "q", "conversationJson": 7}, "conversationJson"),
        ({"query": "q", "dialogKey": {"a": 1}}, "dialogKey"),
        ({"query": "q", "dialogKey": "a\0b"}, "dialogKey"),
        ({"conversationJson": {"messages": []}}, "query"),
    ],
)
def test_what_is_unusable_names_its_field(body: dict[str, Any], field: str) -> None:
    """A 400 with the field, never a traceback."""
    with pytest.raises(InputError) as refused:
        parse_search({"dialogKey": "k", **body})
    assert (refused.value.status, refused.value.field) == (400, field)


def test_weights_replace_and_absent_sources_count_nothing() -> None:
    """`{}` is all zero, which is not the same as none given."""
    assert parse_weights(None) is None
    assert parse_weights({}) == {}
    assert parse_weights({"note": "0.5", "photo": None}) == {"note": 0.5, "photo": 0.0}


def test_a_query_is_built_from_the_payload() -> None:
    """Without a query the latest messages and notes make one."""
    body = {
        "dialogKey": "k",
        "conversationJson": {"messages": [{"id": 1, "body": "about trains", "is_incoming": True}]},
    }
    request = parse_search(body)
    assert "about trains" in request.query
    assert request.payload is body


def test_characters_that_cannot_be_stored_leave_the_query() -> None:
    """NUL and half a surrogate pair are dropped: a query is not stored and need not be refused."""
    assert parse_search({"dialogKey": "k", "query": "a\0b\ud800c"}).query == "abc"
