"""Events are frozen to the leaves and know their stored form."""

from __future__ import annotations

import dataclasses
import json
from datetime import UTC, datetime

import pytest

from core.events.actor import ai, user
from core.events.event import Event, Meta


def _event(payload: dict[str, object], **meta: object) -> Event:
    at = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
    return Event("SearchPerformed", payload, Meta("id-1", at, "memory", user("anna"), "observation", **meta))  # type: ignore[arg-type]


def test_an_event_cannot_be_changed() -> None:
    """Neither its fields, nor its payload, nor the maps and lists inside, nor through the caller's own dict."""
    mine = {"by_source": {"note": 1}, "words": ["a"]}
    event = _event(mine)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.type = "Other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        event.payload["x"] = 1  # type: ignore[index]
    with pytest.raises(TypeError):
        event.payload["by_source"]["note"] = 2
    mine["by_source"]["note"] = 9  # type: ignore[index]
    assert event.payload["by_source"]["note"] == 1
    assert event.payload["words"] == ("a",)


def test_the_row_is_plain_json() -> None:
    """What the SQL function takes, round trip."""
    row = _event({"by_source": {"note": 1}, "words": ["a"]}, record_id="k", caused_by="id-0").row()
    assert json.loads(json.dumps(row)) == row
    assert row["ts"] == "2026-11-30T14:02:00+00:00"
    assert (row["class"], row["actor_kind"], row["caused_by"]) == ("observation", "user", "id-0")


def test_the_row_of_an_ai_names_its_mission() -> None:
    """So that a mission's events are found without reading JSON."""
    actor = ai("g", "G", mission_id="m1", iteration_id="i1", rationale="r")
    event = dataclasses.replace(_event({}), meta=dataclasses.replace(_event({}).meta, actor=actor))
    assert (event.row()["mission_id"], event.row()["iteration_id"]) == ("m1", "i1")
