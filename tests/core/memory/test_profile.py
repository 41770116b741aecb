"""The lines of a profile: found, united, in order."""

from __future__ import annotations

from typing import Any

import pytest

from core.memory.notices import Findings
from core.memory.profile import Profile, find_profile, profile_lines, profile_of, unite

FULL: dict[str, Any] = {
    "name": "Ann",
    "age": "34",
    "city": {"name": "Kyiv"},
    "country": {"name": "Ukraine"},
    "photo_count": 3,
    "details": {
        "occupation": "nurse",
        "body_type": "slim",
        "marital_status": "divorced",
        "personality_type": "calm",
        "goal": ["serious relationship", None, "friends"],
        "hobbies": ["chess"],
        "traits": ["kind", "kind"],
    },
}


def lines(raw: dict[str, Any]) -> tuple[str, ...]:
    return profile_lines(profile_of(raw, "profile", Findings()), Findings())


def test_ten_lines_in_order() -> None:
    """Label and value of all ten, lists joined, equal entries once, nulls left out."""
    assert lines(FULL) == (
        "Name: Ann",
        "Age: 34",
        "Location: Kyiv, Ukraine",
        "Occupation: nurse",
        "Body type: slim",
        "Marital status: divorced",
        "Personality type: calm",
        "Goals: serious relationship, friends",
        "Hobbies: chess",
        "Traits: kind",
    )


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"city": "Lviv"}, ("Location: Lviv",)),
        ({"country": "Poland", "city": {"name": None}}, ("Location: Poland",)),
        ({"age": 34.0}, ("Age: 34",)),
        ({"age": "30-35"}, ("Age: 30-35",)),
        ({"age": 0}, ()),
        ({"name": " \u200b", "city": {}, "details": None}, ()),
        ({"name": "A\u00a0 B\n"}, ("Name: A B",)),
        ({"details": {"goal": "one text", "hobbies": [{"name": "tea"}, 7]}}, ("Goals: one text", "Hobbies: tea, 7")),
        ({}, ()),
    ],
)
def test_shapes(raw: dict[str, Any], expected: tuple[str, ...]) -> None:
    """City as object or text, numbers as numbers or text, one text for a list, and empty values without a line."""
    assert lines(raw) == expected


def test_null_missing_and_empty_are_the_same_profile() -> None:
    """The five ways of having no city give equal lines."""
    for city in ({"city": None}, {}, {"city": ""}, {"city": {"name": None}}, {"city": {}}):
        assert lines({"name": "A", **city}) == ("Name: A",)


def test_wrong_types_are_notices() -> None:
    """A value of another type is passed over and named; the others stay."""
    findings = Findings()
    raw = {
        "name": True,
        "age": [34],
        "city": 5.5,
        "details": {"goal": [True, "x"], "hobbies": {"a": 1}, "traits": False},
    }
    profile = profile_of(raw, "profileJson", findings)
    assert (profile.name, profile.age, profile.city, profile.goals) == (None, None, "5.5", ("x",))
    assert {n.field for n in findings.notices()} == {
        "profileJson.name",
        "profileJson.age",
        "profileJson.details.goal",
        "profileJson.details.hobbies",
        "profileJson.details.traits",
    }


def test_first_wins_field_by_field() -> None:
    """The explicit profile wins where it has a value; lists are united, its entries ahead."""
    one = Profile(name="A", goals=("x", "y"))
    two = Profile(name="B", age="3", goals=("y", "z"))
    assert unite(one, two) == Profile(name="A", age="3", goals=("x", "y", "z"))
    assert unite(Profile(), two) == two


def test_places() -> None:
    """Place by place, profileRu before profileRU before profile; what is empty or no object is passed over."""
    findings = Findings()
    payload = {
        "data": {"favorite": {"profileRu": "text", "profile": {}}, "profile": {"name": "late"}},
        "favorite": {"profile": {"name": "later"}, "profileRU": {"name": "right"}},
    }
    assert find_profile(payload, findings) == {"name": "right"}
    assert [n.field for n in findings.notices()] == ["data.favorite.profileRu"]
    assert find_profile([1], findings) is None


def test_a_long_line_is_cut() -> None:
    """A line stays within the note limit, and the cut is told."""
    findings = Findings()
    (line,) = profile_lines(Profile(name="x" * 5_000), findings)
    assert len(line) == 800 and [n.kind for n in findings.notices()] == ["cut"]
