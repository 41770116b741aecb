"""Notes and summaries: merged, cut, dated, numbered."""

from __future__ import annotations

from typing import Any

import pytest

from core.memory.notes import Note, read_notes, read_summaries
from core.memory.notices import Findings


def notes(*items: Any) -> list[Note]:
    return list(read_notes({"notes": list(items)}, None, Findings()))


def kinds(items: Any) -> list[str]:
    findings = Findings()
    read_notes({"notes": items}, None, findings)
    return [n.kind for n in findings.notices()]


def test_merged_from_all_places_by_id() -> None:
    """Every place and name counts; an id is one note, the first with a text wins, and another text is told."""
    payload = {
        "data": {"favorite": {"aiNotes": [{"id": 1, "text": None}, {"id": 2, "text": "two"}]}},
        "favorite": {"manualNotes": [{"id": "1", "note": "one"}]},
        "notes": [{"id": "2", "summary": "two again"}, {"id": 3, "summary": "three"}],
    }
    findings = Findings()
    found = read_notes(payload, {"notes": [{"id": 3, "text": "three"}, {"id": 4, "text": "four"}]}, findings)
    assert [(n.source_id, n.text) for n in found] == [("2", "two"), ("1", "one"), ("3", "three"), ("4", "four")]
    assert [(n.kind, n.count) for n in findings.notices()] == [("dropped", 1), ("repeated", 1)]


def test_merged_by_date_and_text_without_ids() -> None:
    """Without an id, the same date and text is one note; another date is another note."""
    found = notes(
        {"date": "2026-01-01", "text": "a"}, {"date": "2026-01-01", "text": " a "}, {"date": "2026-01-02", "text": "a"}
    )
    assert [n.source_id for n in found] == ["2026-01-01", "2026-01-02"]


def test_text_falls_through() -> None:
    """text, else note, else summary; blanks do not count, numbers do, a bare text is a note."""
    found = notes({"text": "\u200b", "note": "n"}, {"text": [], "summary": 5}, "bare")
    assert [n.text for n in found] == ["n", "5", "bare"]


def test_source_id_falls_through() -> None:
    """The id, else the date as written, else the place among the notes, from 1."""
    found = notes(
        {"id": "a:b", "text": "1"}, {"created_at": 1792892400, "text": "2"}, {"text": "3"}, {"id": True, "text": "4"}
    )
    assert [n.source_id for n in found] == ["a:b", "1792892400", "3", "4"]


@pytest.mark.parametrize(
    ("item", "day"),
    [
        ({"date": "2026-05-20"}, "2026-05-20"),
        ({"created_at": "2026-11-01T00:30:00+02:00"}, "2026-11-01"),
        ({"date": "soon", "created_at": "2026-05-21T10:00:00Z"}, "2026-05-21"),
        ({"date": 1792892400000}, "2026-10-25"),
        ({"date": "soon"}, None),
        ({"date": {"a": 1}}, None),
        ({}, None),
    ],
)
def test_day(item: dict[str, Any], day: str | None) -> None:
    """The day as it was written, whatever the zone; an unreadable date gives none."""
    assert [n.day for n in notes({"text": "t", **item})] == [day]


def test_unreadable_and_unzoned_dates_are_told() -> None:
    """Both are dated notices; a day alone is in order."""
    assert kinds([{"text": "t", "date": "soon"}]) == ["date"]
    assert kinds([{"text": "t", "date": "2026-05-20T10:00:00"}]) == ["date"]
    assert kinds([{"text": "t", "date": "2026-05-20"}]) == []


def test_cut_to_800() -> None:
    """White space is folded first, then the text is cut."""
    (note,) = notes({"id": 1, "text": "a  " * 1_000})
    assert note.text == ("a " * 400).strip() and kinds([{"text": "a" * 801}]) == ["cut"]


@pytest.mark.parametrize("value", ["text", 5, True, {"a": 1}])
def test_no_list_is_a_notice(value: Any) -> None:
    """What should be a list and is none is passed over and told."""
    findings = Findings()
    assert read_notes({"notes": value, "data": {"notes": [{"id": 1, "text": "t"}]}}, None, findings) == (
        Note("1", "t"),
    )
    assert [n.kind for n in findings.notices()] == ["malformed"]


def test_nulls_and_nonsense_in_the_list() -> None:
    """Nulls vanish; what has no text is dropped and counted."""
    findings = Findings()
    found = read_notes({"notes": [None, {}, [], True, {"text": {}}, {"text": "ok"}]}, None, findings)
    assert [n.text for n in found] == ["ok"]
    assert [(n.kind, n.count) for n in findings.notices()] == [("dropped", 4)]


def test_summaries_of_the_request_and_of_the_payload() -> None:
    """They are read like notes, those of the request first."""
    body = {"summaries": [{"id": "s1", "date": "2026-05-08", "text": "one"}]}
    payload = {"data": {"summaries": [{"id": "s1", "text": "one"}, {"id": "s2", "text": "two"}]}}
    found = read_summaries(body, payload, Findings())
    assert [(n.source_id, n.text, n.day) for n in found] == [("s1", "one", "2026-05-08"), ("s2", "two", None)]
