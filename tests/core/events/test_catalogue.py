"""The list of events: only known fields, only fitting values."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from core.events.catalogue import EVENTS, MEMORY
from core.events.companion_room import COMPANION
from core.events.desk_rooms import HEALTH, OPERATIONS, SNAPSHOTS, USAGE
from core.events.pilot_rooms import PILOT

OWN_ROOMS = {"views", "todo", "calendar", "drink", "places", "companion", "tuning"}
SENTENCE = "he worries about trust"


def test_unknown_fields_are_refused_by_name() -> None:
    """The name is told, the value is not."""
    with pytest.raises(ValueError) as caught:
        EVENTS["SearchPerformed"].fit({"query": SENTENCE, "results": 3})
    assert "query" in str(caught.value) and SENTENCE not in str(caught.value)


def test_unfit_values_are_left_out_and_named() -> None:
    """A fault in data does not lose the event."""
    kept, unfit = EVENTS["SearchPerformed"].fit({"results": 3, "top_score": float("nan"), "dialog_key": None})
    assert (kept, unfit) == ({"results": 3}, ["top_score"])


@pytest.mark.parametrize("name", sorted(EVENTS))
def test_no_event_can_hold_a_sentence(name: str) -> None:
    """Given the same sentence in each of its fields, only ids that a sender chose keep it, and names of one's own."""
    kept, _ = EVENTS[name].fit(dict.fromkeys(EVENTS[name].fields, SENTENCE))
    named = {"title", "name"} if EVENTS[name].app_id in OWN_ROOMS else set()
    if name == "PersonalDataRevealed":
        named = {"reason"}  # masked before it is stored: see the tests of the veil
    keys = {"dialog_key", "request_id", "kept_key", "dropped_key", "key_new", "key_legacy", "source_id"}
    assert set(kept) <= keys | named


def test_a_meal_says_how_much_and_not_what() -> None:
    """Descriptions stay in the rows of their modules."""
    for name in ("MealLogged", "MealFromPhotoLogged", "CalendarEventCreated", "TaskCreated"):
        assert not {"description", "location", "notes"} & set(EVENTS[name].fields)
    assert "title" not in EVENTS["CompanionConversationStarted"].fields


def test_no_event_has_two_homes() -> None:
    """A name stands in one room only, so that no definition hides another."""
    rooms = (*MEMORY, *SNAPSHOTS, *OPERATIONS, *USAGE, *HEALTH, *PILOT, *COMPANION)
    assert len({known.name for known in rooms}) == len(rooms)


def test_days_and_moments_are_checked() -> None:
    """A day is a date, a moment has a zone; dates and datetimes are taken as well as their texts."""
    fit = EVENTS["GoalReached"].fit
    assert fit({"period_start": date(2026, 11, 30)})[0] == {"period_start": "2026-11-30"}
    assert fit({"period_start": "30 November"})[1] == ["period_start"]
    assert EVENTS["NudgeSnoozed"].fit({"until": datetime(2026, 11, 30, 9)})[1] == ["until"]
    until = datetime(2026, 11, 30, 9, tzinfo=UTC)
    assert EVENTS["NudgeSnoozed"].fit({"until": until})[0] == {"until": "2026-11-30T09:00:00+00:00"}


def test_changes_are_audit_events() -> None:
    """What changed rows is kept 400 days; looks and checks are observations."""
    audit = {name for name, kind in EVENTS.items() if kind.event_class == "audit"}
    assert audit >= {"DialogIngested", "DemoLoaded", "DemoRemoved", "MigrationsApplied"}
    assert audit >= {"SnapshotsCaptured", "SnapshotsDeleted", "CleanupRan", "SnapshotPinned", "SnapshotUnpinned"}
    assert audit.isdisjoint({"SearchPerformed", "HealthChecked", "SnapshotsCompared", "CleanupPreviewed"})
    assert audit >= {"TaskCompleted", "DrinkLogged", "ProposalDecided", "PolicyChanged", "GoalReached"}
    assert audit.isdisjoint({"TokensLogged", "NudgeShown", "SnapshotChanged", "LocationLogged"})
