"""The query built from a payload."""

from __future__ import annotations

from typing import Any

from core.memory.payload import Normalised, normalise
from core.memory.query import build_query, recent_window


def payload(messages: list[dict[str, Any]], notes: list[dict[str, Any]] | None = None) -> Normalised:
    return normalise({"conversationJson": {"messages": messages, "notes": notes or []}, "ruId": "r", "tuId": "t"})


def said(i: int, incoming: bool | None) -> dict[str, Any]:
    return {"id": i, "body": f"m{i}", "is_incoming": incoming, "sent_at": f"2026-11-{i + 1:02}T00:00:00Z"}


def test_parts_in_order() -> None:
    """Latest incoming, latest outgoing, the balanced window in time order, the last five notes by day."""
    messages = [said(i, incoming=i < 8) for i in range(20)]
    notes = [{"id": i, "text": f"n{i}", "date": f"2026-10-{20 - i:02}"} for i in range(7)]
    assert build_query(payload(messages, notes)).split("\n") == [
        "m7",
        "m19",
        *(f"m{i}" for i in (3, 4, 5, 6, 7, 15, 16, 17, 18, 19)),
        *(f"n{i}" for i in (4, 3, 2, 1, 0)),
    ]


def test_window_is_balanced() -> None:
    """Five of each direction at most; one without a direction is in none; with one direction alone there are five."""
    window = recent_window(payload([said(i, None if i == 9 else True) for i in range(10)]).messages)
    assert [m.text for m in window] == ["m4", "m5", "m6", "m7", "m8"]


def test_nothing_to_ask() -> None:
    """A payload without messages and notes asks nothing."""
    assert build_query(payload([])) == "" and build_query(payload([said(1, None)])) == ""
