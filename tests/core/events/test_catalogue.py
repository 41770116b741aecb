"""The list of events: only known fields, only fitting values."""

from __future__ import annotations

import pytest

from core.events.catalogue import EVENTS

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
    """Given the same sentence in each of its fields, only ids keep it: keys that the sender chose."""
    kept, _ = EVENTS[name].fit(dict.fromkeys(EVENTS[name].fields, SENTENCE))
    assert set(kept) <= {"dialog_key", "request_id", "kept_key", "dropped_key"}


def test_changes_are_audit_events() -> None:
    """What changed rows is kept 400 days; looks and checks are observations."""
    audit = {name for name, kind in EVENTS.items() if kind.event_class == "audit"}
    assert audit >= {"DialogIngested", "DemoLoaded", "DemoRemoved", "MigrationsApplied"}
    assert audit >= {"SnapshotsCaptured", "SnapshotsDeleted", "CleanupRan", "SnapshotPinned", "SnapshotUnpinned"}
    assert audit.isdisjoint({"SearchPerformed", "HealthChecked", "SnapshotsCompared", "CleanupPreviewed"})
