"""Ids of demo rows: stable, valid, and in a range that nobody else's ids lie in."""

from __future__ import annotations

import uuid

from core.services.demo_marks import demo_id


def test_ids_are_uuids_of_the_demo_range() -> None:
    """Version 8, the variant of RFC 9562, between the bounds that the migration names, the same for the same parts."""
    low, high = uuid.UUID("de30de30-de30-8000-8000-000000000000"), uuid.UUID("de30de30-de30-9000-8000-000000000000")
    ids = {demo_id("usage", day, place) for day in range(40) for place in range(250)}
    assert len(ids) == 10_000
    for text in ids:
        found = uuid.UUID(text)
        assert str(found) == text
        assert low <= found < high
        assert (found.version, found.variant) == (8, uuid.RFC_4122)
    assert demo_id("a", 1) == demo_id("a", 1) != demo_id("a", 2)


def test_no_other_maker_of_ids_hits_the_range() -> None:
    """Random ids (4) and those made of a name (5) carry another version."""
    assert {uuid.uuid4().version, uuid.uuid5(uuid.NAMESPACE_URL, "x").version}.isdisjoint({8})
