"""Charts: colours by source, days in their places."""

from __future__ import annotations

from core.memory.sources import SOURCES
from pages._shared import charts


def test_every_source_has_its_colour() -> None:
    """Each source that exists has one colour, no two share one, and a boost is the same hue."""
    assert set(charts.SOURCE_COLOURS) == set(SOURCES)
    assert len(set(charts.SOURCE_COLOURS.values())) == len(SOURCES)
    assert charts.lighter("note") == "#7fb8d8"


def test_days_without_rows_have_their_place() -> None:
    """3 and 4 November are zero, no line between neighbours; no day is a timestamp that a browser could shift."""
    days = [("2026-11-01", "note", 2), ("2026-11-02", "note", 1), ("2026-11-05", "conversation", 3)]
    figure = charts.by_day(days, "chunks")
    note = next(trace for trace in figure.data if trace.name == "note")
    assert list(note.x) == [f"2026-11-0{n}" for n in range(1, 6)]
    assert list(note.y) == [2, 1, 0, 0, 0]
    assert figure.layout.xaxis.type == "category"


def test_amounts_start_at_zero() -> None:
    """A bar's length is its number."""
    assert charts.by_source({"note": 3}, "chunks").layout.xaxis.range[0] == 0


def test_stacked_bars_differ_without_their_colour() -> None:
    """Sources on top of each other have a pattern each, so that a print in grey tells them apart."""
    days = [("2026-11-01", source, 1) for source in SOURCES]
    patterns = [trace.marker.pattern.shape for trace in charts.by_day(days, "chunks").data]
    assert len(set(patterns)) == len(SOURCES)
