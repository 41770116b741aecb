"""Each way in which a recorded chunk and today's answer can differ has its name."""

from __future__ import annotations

from typing import Any

import pytest

from core.memory.hits import Hit
from core.retrievals.drift import CHANGES, Today, compare
from core.retrievals.record import RetrievedChunk
from core.retrievals.store import Whereabouts

AT = "2026-05-02T00:00:00+00:00"
BEFORE, AFTER = "2026-05-01T00:00:00+00:00", "2026-05-03T00:00:00+00:00"


def chunk(id: str, rank: int = 1, text: str = "t") -> RetrievedChunk:
    return RetrievedChunk(rank, id, "d", "note", "n", text, 0.5, 0.1, 0.6, 3)


def today(*ids: str, below: tuple[str, ...] = (), texts: dict[str, str] | None = None) -> Today:
    hits = tuple(
        Hit(id, "note", "n", (texts or {}).get(id, f"text of {id}"), 0.6, 0.5, 0.1, n) for n, id in enumerate(ids, 1)
    )
    order = [*ids, *below]
    return Today(hits, {id: n for n, id in enumerate(order, 1)}, dict.fromkeys(order, 0.6))


def row(text: str = "t", **more: Any) -> dict[str, Any]:
    return {"dialog_key": "d", "text": text, "model": "m", "created_at": BEFORE, **more}


@pytest.mark.parametrize(
    ("now", "before", "stored", "away", "changes"),
    [
        (today("a"), today("a"), {"a": row()}, {}, ("same",)),
        (today("b", "a"), today("b", "a"), {"a": row(), "b": row()}, {}, ("rank",)),
        (today(), today(), {}, {}, ("deleted",)),
        (today(), today(), {}, {"a": {"kind": "deleted"}}, ("deleted",)),
        (today(), today(), {}, {"a": {"kind": "excluded"}}, ("excluded",)),
        (today(), today(), {}, {"a": {"kind": "superseded"}}, ("superseded",)),
        (today(), today(), {"a": row(dialog_key="other")}, {}, ("moved",)),
        (today("a"), today("a"), {"a": row("changed")}, {}, ("text",)),
        (today(), today(), {"a": row(model="other")}, {}, ("model",)),
        (today("b", below=("a",)), today("b", below=("a",)), {"a": row(), "b": row()}, {}, ("dropped",)),
        (today("b", below=("a",)), today("a", below=("b",)), {"a": row(), "b": row()}, {}, ("weights",)),
    ],
)
def test_of_a_recorded_chunk(
    now: Today, before: Today, stored: dict[str, Any], away: dict[str, Any], changes: tuple[str, ...]
) -> None:
    """Same, moved in rank, gone in four ways, another text or model, below the line by itself or by other weights."""
    found = compare([chunk("a")], "d", AT, now, before, Whereabouts(stored, away), "m")[0]
    assert found.changes == changes
    assert found.then is not None and found.rank_now == now.ranks.get("a")


@pytest.mark.parametrize(
    ("before", "created", "change"),
    [
        (today("a"), AFTER, "added"),
        (today("a"), BEFORE, "weights"),
        (today("b"), BEFORE, "entered"),
        (today("b"), None, "entered"),
    ],
)
def test_of_what_is_found_only_today(before: Today, created: str | None, change: str) -> None:
    """Not stored then, above the line by other weights, or by itself."""
    places = Whereabouts({"b": row(created_at=created)}, {})
    found = compare([], "d", AT, today("b"), before, places, "m")
    assert [(d.changes, d.then, d.rank_now) for d in found] == [((change,), None, 1)]


def test_an_equal_row_stands_in(  # a merge keeps the newer of two equal rows, which has another id
) -> None:
    """A row that gave way to an equal one is not deleted, and its successor is not new."""
    now = today("z", texts={"z": "t"})
    [found] = compare([chunk("a")], "d", AT, now, now, Whereabouts({"z": row()}, {}), "m")
    assert (found.id, found.changes, found.same) == ("z", ("same",), True)


def test_every_change_has_words() -> None:
    """And none of them is longer than its column."""
    assert all(0 < len(words) < 45 for words in CHANGES.values())
