"""Notices are counted by kind and never grow with the payload."""

from __future__ import annotations

from core.memory.notices import Findings, Notice
from core.memory.payload import normalise


def test_equal_findings_are_counted() -> None:
    """A hundred thousand faults of one kind are one line with the number in it."""
    findings = Findings()
    for _ in range(100_000):
        findings.add("conversation", "dropped", "Dropped: {n}.")
    findings.add("conversation", "limit", "Older: {n}.", 3)
    findings.add("notes", "cut", "never", 0)
    assert findings.notices() == (
        Notice("conversation", "Dropped: 100,000.", "dropped", 100_000),
        Notice("conversation", "Older: 3.", "limit", 3),
    )


def test_content_left_out_is_a_warning() -> None:
    """Older messages and cuts lose what somebody wrote, and are warned of; dropped system messages lose nothing."""
    kinds = {kind: Notice("f", "m", kind).is_warning for kind in ("missing", "date", "system", "limit", "cut")}
    assert kinds == {"missing": True, "date": True, "system": False, "limit": True, "cut": True}


def test_a_long_word_and_too_many_messages_are_warned_of() -> None:
    """A note of one endless word and a conversation beyond 80 are read, and the answer says what was left out."""
    payload = {
        "notes": [{"id": "n", "text": "w" * 5000}],
        "messages": [{"id": n, "body": "hi", "is_incoming": True, "sent_at": "2026-11-01"} for n in range(100)],
    }
    read = normalise({"ruId": 1, "tuId": 2, "conversationJson": payload})
    warned = {(n.field, n.kind, n.count) for n in read.notices if n.is_warning}
    assert {("notes", "cut", 1), ("conversation", "limit", 20)} <= warned
