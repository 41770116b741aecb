"""How a demo dialog was before its changes."""

from __future__ import annotations

from datetime import UTC, datetime

from core.services.demo_changes import Changes
from core.services.demo_content import demo_dialogs

PROFILE = {
    "name": "Ann",
    "age": 40,
    "photo_count": 1,
    "details": {"occupation": "cook", "hobbies": ["a", "b"]},
    "main_photo": {"big_url": "https://photos.example/1/main.jpg"},
}
NOTES = [{"text": "the oldest"}, {"text": "one two three four five six"}]


def test_before_and_after() -> None:
    """More days ago than the change everything stands otherwise; from that day on it is what the payload says."""
    changes = Changes("en", dict.fromkeys(("age", "occupation", "hobbies", "photo", "note edited"), 5))
    then, url = changes.profile(PROFILE, 6)
    assert (then["age"], then["details"]) == (39, {"occupation": "cook, part-time", "hobbies": ["b"]})
    assert url == "https://photos.example/1/former.jpg"
    now, url = changes.profile(PROFILE, 5)
    assert now == {name: value for name, value in PROFILE.items() if name != "main_photo"}
    assert url == "https://photos.example/1/main.jpg"
    assert changes.notes(NOTES, 6)[-1]["text"] == "one two three"
    assert changes.notes(NOTES, 5) == NOTES
    assert PROFILE["age"] == 40


def test_a_withdrawn_note_is_there_before() -> None:
    """The oldest goes on its day; a dialog without that change keeps it, and a single note is never withdrawn."""
    changes = Changes("en", {"note withdrawn": 3})
    assert changes.notes(NOTES, 4) == NOTES
    assert changes.notes(NOTES, 3) == NOTES[1:]
    assert changes.notes(NOTES[:1], 3) == NOTES[:1]
    assert Changes("en", {}).notes(NOTES, 0) == NOTES


def test_a_profile_may_lack_everything() -> None:
    """Fields that are not there do not appear by changing."""
    changes = Changes("uk", dict.fromkeys(("age", "occupation", "hobbies", "photo"), 5))
    assert changes.profile({}, 9) == ({}, None)


def test_changes_are_the_same_in_every_process() -> None:
    """Seeded with the name alone; most dialogs have some, within the fourteen days."""
    dialogs = demo_dialogs(datetime(2026, 11, 30, 17, tzinfo=UTC))
    found = [Changes.of(dialog) for dialog in dialogs]
    assert found == [Changes.of(dialog) for dialog in dialogs]
    assert sum(bool(c.days) for c in found) > 25
    assert all(0 <= ago <= 11 for c in found for ago in c.days.values())
