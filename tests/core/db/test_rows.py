"""Batches and keyset walks."""

from __future__ import annotations

import pytest

from core.db.rows import batches, walk


def test_batches_keep_order_and_lose_nothing() -> None:
    """Joined, the batches are the items; only the last may be short."""
    parts = list(batches(list(range(7)), 3))
    assert parts == [[0, 1, 2], [3, 4, 5], [6]]
    assert list(batches([], 3)) == []


def test_batches_refuse_an_empty_step() -> None:
    """A size below one would never end."""
    with pytest.raises(ValueError):
        list(batches([1], 0))


def test_walk_goes_on_after_a_page_that_the_server_cut_short() -> None:
    """A server that caps pages at two rows still yields all five; a short page is not taken for the last."""
    rows = [{"id": n} for n in range(5)]
    seen = [
        r["id"]
        for page in walk(lambda after: [r for r in rows if after is None or r["id"] > after][:2], "id")
        for r in page
    ]
    assert seen == [0, 1, 2, 3, 4]
