"""Many rows in steps of a fixed size, so that no cap of the data API cuts them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

T = TypeVar("T")

Row = dict[str, Any]


def batches(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive slices of at most `size` items, in order. Errors: ValueError for a size below 1."""
    if size < 1:
        raise ValueError("a batch holds at least one item")
    for start in range(0, len(items), size):
        yield items[start : start + size]


def walk(read: Callable[[Any], list[Row]], key: str) -> Iterator[list[Row]]:
    """Every page of a keyset walk: `read(after)` returns the rows whose `key` is greater, ascending.

    Ends at the first empty page and not at a short one: the server may cap a page below the size asked for
    (1,000 rows by default, status 200, no word).
    """
    after: Any = None
    while page := read(after):
        yield page
        after = page[-1][key]
