"""Invented days as rows and events: marked, of the past, with payloads that the catalogue knows."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from core.companion.demo.written import six_weeks
from core.events.catalogue import EVENTS
from core.services.demo_marks import is_demo_id

KYIV = ZoneInfo("Europe/Kyiv")


@pytest.mark.parametrize("hour", [1, 8, 13, 20])
def test_marked_and_of_the_past(hour: int) -> None:
    """At any hour: ids that only the demo makes, each once; nothing that would have happened later."""
    now = datetime(2026, 11, 30, hour, 17, tzinfo=UTC)
    made = six_weeks(now, KYIV)
    ids = [event.id for event in made.events] + [row["id"] for rows in made.rows.values() for row in rows]
    assert len(set(ids)) == len(ids) > 1500 and all(map(is_demo_id, ids))
    assert max(event.at for event in made.events) <= now
    assert all(datetime.fromisoformat(row["created_at"]) <= now for rows in made.rows.values() for row in rows)
    assert all(len({tuple(row) for row in rows}) == 1 for rows in made.rows.values())


def test_payloads_fit() -> None:
    """Every field of every event is one that the catalogue has for it."""
    made = six_weeks(datetime(2026, 11, 30, 20, tzinfo=UTC), KYIV)
    for event in {event.type: event for event in made.events}.values():
        fitting, unfit = EVENTS[event.type].fit(event.payload)
        assert not unfit and fitting, event.type
