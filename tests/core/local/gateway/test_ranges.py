"""Windows and Content-Range."""

from __future__ import annotations

import pytest

from core.local.gateway.errors import Failure
from core.local.gateway.ranges import Window, content_range, parse_window, range_status


@pytest.mark.parametrize(
    ("limit", "offset", "header", "window"),
    [
        (None, None, None, Window(0, None)),
        ("5", "10", None, Window(10, 5)),
        (None, None, "2-4", Window(2, 3)),
        (None, None, "items=2-4", Window(2, 3)),
        (None, None, "2-", Window(2, None)),
        ("2", None, "0-9", Window(0, 2)),
        ("20", None, "5-9", Window(5, 5)),
        ("2", None, "5-9", Window(5, 0)),
        ("x", "y", "z", Window(0, None)),
        ("9" * 30, None, None, Window(0, None)),
    ],
)
def test_window(limit: str | None, offset: str | None, header: str | None, window: Window) -> None:
    """Parameters and header both hold; what is no number counts as not given."""
    assert parse_window(limit, offset, header) == window


@pytest.mark.parametrize(("limit", "offset", "header"), [("-1", None, None), (None, "-1", None), (None, None, "4-2")])
def test_unsatisfiable(limit: str | None, offset: str | None, header: str | None) -> None:
    """Negative numbers and a range that ends before it begins are 416."""
    with pytest.raises(Failure) as caught:
        parse_window(limit, offset, header)
    assert (caught.value.status, caught.value.code) == (416, "PGRST103")


def test_cap() -> None:
    """The cap is the smaller of the two."""
    assert [Window(3, limit).capped(10).limit for limit in (None, 5, 50)] == [10, 5, 10]


@pytest.mark.parametrize(
    ("offset", "rows", "total", "shown", "status"),
    [
        (0, 3, None, "0-2/*", 200),
        (0, 0, None, "*/*", 200),
        (0, 3, 3, "0-2/3", 200),
        (0, 3, 9, "0-2/9", 206),
        (9, 0, 9, "*/9", 206),
        (0, 0, 0, "*/0", 200),
    ],
)
def test_content_range(offset: int, rows: int, total: int | None, shown: str, status: int) -> None:
    """Header and status for what was found."""
    assert (content_range(offset, rows, total), range_status(offset, rows, total)) == (shown, status)


def test_past_the_end() -> None:
    """416 with the total in Content-Range."""
    with pytest.raises(Failure) as caught:
        range_status(10, 0, 9)
    assert caught.value.headers == [("Content-Range", "*/9")]
