"""The body of a request."""

from __future__ import annotations

import pytest

from core.local.gateway.errors import Failure
from core.local.gateway.payload import Payload


def test_keys() -> None:
    """Keys of an object, and of all objects of a list; an empty list has none."""
    assert Payload('{"a": 1, "b": 2}').keys() == ["a", "b"]
    assert Payload('[{"a": 1, "b": 2}, {"b": 1, "a": 2}]').keys() == ["a", "b"]
    assert Payload("[]").keys() == [] == Payload("{}").keys()


@pytest.mark.parametrize(
    "text", ["", "{", "1", '["a"]', '{"a": NaN}', '{"a": Infinity}', "[" * 99999, '[{"a":1},{"b":1}]']
)
def test_no_rows(text: str) -> None:
    """Anything but rows with the same keys is 400 PGRST102."""
    with pytest.raises(Failure) as caught:
        Payload(text).keys()
    assert (caught.value.status, caught.value.code) == (400, "PGRST102")


def test_as_array() -> None:
    """An object becomes a list of one; a list, also behind white space, stays as it is."""
    assert (Payload('{"a":1}').as_array(), Payload(" \n[1]").as_array()) == ('[{"a":1}]', " \n[1]")


def test_arguments() -> None:
    """Only an object has named arguments."""
    assert (Payload('{"a": 1}').arguments(), Payload("[1]").arguments(), Payload("null").arguments()) == (
        ["a"],
        None,
        None,
    )


def test_of() -> None:
    """An empty body is an empty object; other media types and bytes that are no UTF-8 are refused."""
    assert Payload.of(b"", None) == Payload("{}") == Payload.of(b"{}", "application/json; charset=utf-8")
    for body, media in ((b"a,b", "text/csv"), (b'"\xff"', None)):
        with pytest.raises(Failure):
            Payload.of(body, media)
