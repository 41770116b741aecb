"""Arguments of tools: what is clearly meant is taken, all else is refused by name."""

from __future__ import annotations

from typing import Any

import pytest

from core.companion.act.validation import validate
from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.errors import InputError

PARAMETERS = (
    Parameter("title", "string", "A title.", required=True, max_length=20),
    Parameter("size", "number", "A size.", minimum=0, maximum=100),
    Parameter("limit", "integer", "How many.", default=12),
    Parameter("kind", "string", "Which.", enum=("wine", "other"), same_as={"alcohol": "other"}),
    Parameter("level", "integer", "Which level.", enum=("1", "2")),
    Parameter("on", "boolean", "Whether."),
    Parameter("ids", "array", "Which ones.", max_length=3),
    Parameter("more", "object", "What else."),
    Parameter("day", "string", "A day.", pattern=r"\d{4}-\d{2}-\d{2}"),
)
TOOL = ModuleTool(
    "make", "m", "Make", "Makes.", lambda p: ToolResult(True, ""), "usage", "auto", "personal", PARAMETERS
)


def made(**params: Any) -> dict[str, Any]:
    return validate(TOOL, {"title": "t", **params})


@pytest.mark.parametrize(
    ("name", "given", "taken"),
    [
        ("size", "42", 42), ("size", " 4.5 ", 4.5), ("size", 0, 0), ("limit", "7", 7), ("limit", 7.0, 7),
        ("on", "true", True), ("on", "0", False), ("on", 1, True), ("on", "YES", True), ("on", False, False),
        ("kind", "alcohol", "other"), ("level", "2", 2), ("title", 5, "5"), ("ids", (1, "a"), [1, "a"]),
        ("more", {"a": [1]}, {"a": [1]}), ("day", "2026-11-30", "2026-11-30"),
    ],
)  # fmt: skip
def test_taken(name: str, given: Any, taken: Any) -> None:
    """Numbers and flags written as text, other spellings, and the enum after them."""
    found = made(**{name: given})[name]
    assert found == taken and type(found) is type(taken)


@pytest.mark.parametrize(
    ("name", "given"),
    [
        *[("size", v) for v in ("abc", "", " ", True, float("nan"), float("inf"), "NaN", "Infinity", "1e999", "0x10",
                                "1_000", [1], {}, -1, 101, "٣", 10**400)],
        *[("limit", v) for v in (1.5, "1.5", "", False)],
        *[("on", v) for v in ("maybe", "", 2, 1.0, [])],
        *[("kind", v) for v in ("beer", "", "WINE")],
        ("level", 3), ("title", True), ("title", ["a"]), ("title", "  "), ("title", "x" * 21), ("title", "a\x00b"),
        ("title", "\ud800"), ("ids", "abc"), ("ids", {"a": 1}), ("ids", [1, 2, 3, 4]), ("ids", [float("nan")]),
        ("ids", [object()]), ("more", [1]), ("more", "{}"), ("day", "2026-11-30; drop"), ("other", 1),
    ],
)  # fmt: skip
def test_refused(name: str, given: Any) -> None:
    """Refused with the name of the parameter, and without what was given."""
    with pytest.raises(InputError) as caught:
        made(**{name: given})
    assert caught.value.field == name
    assert not isinstance(given, str) or len(given) < 3 or given not in str(caught.value)


def test_required_and_optional() -> None:
    """A required one is missing also as null; an optional null is left out; a default is filled in."""
    for params in ({}, {"title": None}):
        with pytest.raises(InputError, match="title is missing"):
            validate(TOOL, params)
    assert made(size=None, on=None) == {"title": "t", "limit": 12}


def test_the_callers_mapping_stays() -> None:
    """Neither the mapping nor what it holds is shared with the tool."""
    given = {"title": "t", "size": "3", "more": {"a": [1]}}
    found = validate(TOOL, given)
    found["more"]["a"].append(2)
    assert given == {"title": "t", "size": "3", "more": {"a": [1]}}


@pytest.mark.parametrize("params", [None, "title", [("title", "t")], 3])
def test_no_object(params: Any) -> None:
    """Arguments that are no object at all."""
    with pytest.raises(InputError):
        validate(TOOL, params)
