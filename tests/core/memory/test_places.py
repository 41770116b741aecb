"""Arguments of a request, and the places of a payload."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError
from core.memory.places import at, everywhere, json_argument, request_text

SECRET = "SECRET-WORDS-OF-SOMEBODY"


@pytest.mark.parametrize(
    "value",
    [
        "not json " + SECRET,
        '{"a": NaN, "b": "' + SECRET + '"}',
        "[1,",
        "null",
        '"a text"',
        "5",
        "true",
        "[" * 100_000,
        "1" * 5_000,
        7,
        True,
        1.5,
    ],
)
def test_unusable_json_names_the_field(value: Any) -> None:
    """Text that is not JSON, and JSON that is no object or list: InputError with the field and none of the text."""
    with pytest.raises(InputError) as caught:
        json_argument({"conversationJson": value}, "conversationJson")
    assert caught.value.field == "conversationJson" and caught.value.status == 400
    assert SECRET not in f"{caught.value!r} {caught.value} {caught.value.detail}"
    assert caught.value.__cause__ is None and caught.value.__context__ is None


@pytest.mark.parametrize("value", [None, "", "  \n", "\ufeff"])
def test_absent_json(value: Any) -> None:
    """Null and an empty text count as not sent."""
    assert json_argument({"profileJson": value}, "profileJson") is None
    assert json_argument({}, "profileJson") is None


def test_json_as_text_or_parsed() -> None:
    """Both forms give the same, and a byte-order mark changes nothing."""
    assert json_argument({"j": {"a": [1]}}, "j") == json_argument({"j": '\ufeff{"a":\r\n[1]}\r\n'}, "j") == {"a": [1]}


@pytest.mark.parametrize("value", [True, [], {}, ["x"], "a\0b", "a\ud800", "x" * 257, float("nan")])
def test_unusable_text_argument(value: Any) -> None:
    """An id of the request is text or a number that can be stored; anything else names the field."""
    with pytest.raises(InputError) as caught:
        request_text({"ruId": value}, "ruId")
    assert caught.value.field == "ruId"


def test_text_argument() -> None:
    """Numbers are texts; absent, null and blank are None."""
    texts = [request_text({"x": v}, "x") for v in (7, " 7 ", "a:b", None, "", " ")]
    assert texts == ["7", "7", "a:b", None, None, None]


def test_places_in_order() -> None:
    """data.favorite, favorite, data, root; name by name; nulls and steps that are no objects are passed over."""
    payload = {"data": {"favorite": {"x": 1, "y": None}, "x": 3}, "favorite": {"x": 2}, "x": 4, "y": 5}
    assert list(everywhere(payload, ("x", "y"))) == [("x", 1), ("x", 2), ("x", 3), ("x", 4), ("y", 5)]
    assert list(everywhere([1], ("x",))) == [] and list(everywhere({"data": [1]}, ("x",))) == []
    assert at({"a": "text"}, ("a", "b")) is None
