"""What a profile may be, and how it is stored."""

from __future__ import annotations

from typing import Any

import pytest

from core.errors import InputError
from core.memory.retrieval import SEED, Profile
from core.memory.sources import DEFAULT_WEIGHTS


def test_the_seed_is_plain() -> None:
    """Version 1 ranks as the database's own function does."""
    assert (SEED.version, SEED.weights, SEED.plain, SEED.needs_texts) == (1, DEFAULT_WEIGHTS, True, False)


def test_json_and_back() -> None:
    """A stored body gives the same profile; zero boosts, which say nothing, are not written."""
    profile = Profile("own", 3, {"note": 0.4, "photo": 0.0}, "sd", 0.35, 10, 1700, {"summary": 0})
    body = profile.as_json()
    assert body["weights"] == {"note": 0.4} and body["quotas"] == {"summary": 0}
    assert Profile.from_json(body, name="own", version=3).as_json() == body
    assert Profile.from_json({}).as_json() == Profile().as_json()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"weights": {"letter": 1.0}}, "weights"),
        ({"weights": {"note": float("nan")}}, "weights"),
        ({"weights": [1]}, "weights"),
        ({"unit": "cm"}, "unit"),
        ({"fusion": -0.1}, "fusion"),
        ({"fusion": True}, "fusion"),
        ({"limit": 25}, "limit"),
        ({"budget_chars": 0.5}, "budget_chars"),
        ({"quotas": {"note": -1}}, "quotas"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict[str, Any], field: str) -> None:
    """An impossible value names its field."""
    with pytest.raises(InputError) as refused:
        Profile.from_json(wrong)
    assert refused.value.field == field


def test_boosts_of_a_caller_replace_everything_that_ranks() -> None:
    """`sourceWeights` give the plain search of before, whatever profile is active."""
    own = Profile("own", 3, {"note": 0.4}, "sd", 0.35, 10, 1700, {"summary": 0}).with_weights({"note": 0.1})
    assert own.plain and own.version is None and own.weights == {"note": 0.1} and own.limit == 10
