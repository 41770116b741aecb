"""Why a chunk is not in the prompt."""

from __future__ import annotations

import pytest

from core.memory.score import Candidates
from core.memory.whynot import excluded_by, why_not

CANDIDATES = Candidates.of(["a", "b", "c", "d"], ["note", "conversation", "note", "conversation"], [0.5, 0.6, 0.3, 0.2])


def test_below_the_cut() -> None:
    """Rank, parts, what it lacks, and the boost that would bring it in."""
    told = why_not(CANDIDATES, {"note": 0.05}, 2, "c")
    assert (told.reason, told.rank, told.cosine, told.boost) == ("below_cut", 3, 0.3, 0.05)
    assert told.score == pytest.approx(0.35) and told.margin == pytest.approx(-0.2)
    assert told.needed_boost == pytest.approx(0.3)


def test_inside() -> None:
    """Inside, the margin is the lead over the first chunk outside."""
    told = why_not(CANDIDATES, {}, 2, "a")
    assert (told.reason, told.rank) == ("in", 2) and told.margin == pytest.approx(0.2)
    assert why_not(CANDIDATES, {}, 4, "d").margin is None and why_not(CANDIDATES, {}, 4, "d").needed_boost is None


def test_behind_its_own_source() -> None:
    """With k better chunks of its own source ahead no boost helps."""
    told = why_not(CANDIDATES, {}, 1, "c")
    assert (told.reason, told.needed_boost) == ("behind_own_source", None)


def test_not_compared() -> None:
    """A chunk that was no candidate has no numbers; its row says which filter kept it out."""
    told = why_not(CANDIDATES, {}, 2, "elsewhere")
    assert (told.reason, told.rank, told.score) == ("not_compared", None, None)


@pytest.mark.parametrize(
    ("change", "by"),
    [
        ({}, ()),
        ({"dialog_key": "other"}, ("dialog_key",)),
        ({"embedding_model": None}, ("embedding_model",)),
        ({"client_id": None}, ()),
        ({"client_id": "r2", "compose_mode": "letter"}, ("client_id", "compose_mode")),
        ({"compose_mode": "reply"}, ()),
    ],
)
def test_excluded_by(change: dict[str, str | None], by: tuple[str, ...]) -> None:
    """The filters of the search, each by its column."""
    row = {"dialog_key": "k", "embedding_model": "m", "client_id": "r", "compose_mode": "both", **change}
    assert excluded_by(row, dialog_key="k", model="m", client_id="r") == by
    assert "client_id" not in excluded_by(row, dialog_key="k", model="m")
