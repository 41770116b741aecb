"""A choice as the store takes it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

from core.events.acts import READS
from pages._shared.activity.filters import Choice


def test_days_are_local_and_the_last_one_is_included() -> None:
    """From midnight to midnight of the zone, whatever the browser's."""
    query = Choice(first=date(2026, 10, 24), last=date(2026, 10, 25)).query(ZoneInfo("Europe/Kyiv"))
    assert query["since"].astimezone(UTC) == datetime(2026, 10, 23, 21, tzinfo=UTC)
    assert query["until"].astimezone(UTC) == datetime(2026, 10, 25, 22, tzinfo=UTC)  # the clock went back


def test_words_become_values() -> None:
    """`any` is none."""
    assert set(Choice().query(ZoneInfo("UTC")).values()) == {None, False}
    query = Choice("k", "reads", "user", "memory", "SearchPerformed", principal="p").query(ZoneInfo("UTC"))
    assert (query["about"], query["types"], query["by"], query["principal"]) == ("k", READS, "user", "p")
    assert Choice(what="changes").query(ZoneInfo("UTC"))["event_class"] == "audit"


def test_counts_ask_for_no_kind() -> None:
    """They are of every kind: about what, whose and when alone."""
    frame = Choice("k", "reads", "ai", "memory", "SearchPerformed", principal="p").frame(ZoneInfo("UTC"))
    assert frame == {"about": "k", "principal": "p", "since": None, "until": None}
