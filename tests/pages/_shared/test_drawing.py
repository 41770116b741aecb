"""The charts of a search."""

from __future__ import annotations

from pages._shared.search.drawing import Bar, flips, scores, slots


def test_parts_of_a_bar_sum_to_its_score() -> None:
    """Cosine and boost, drawn on each other, end at the score; a boost that takes away is hatched."""
    bars = [Bar(1, "note", 0.80, 0.18, 1), Bar(2, "photo", 0.70, -0.05, 2)]
    figure = scores(bars, 12)
    note, boost = figure.data[0], figure.data[1]
    assert abs(note.x[0] + boost.x[0] - 0.98) < 1e-9 and boost.base[0] == note.x[0]
    photo, taken = figure.data[2], figure.data[3]
    assert abs(photo.x[0] - 0.65) < 1e-9 and abs(taken.base[0] + taken.x[0] - 0.70) < 1e-9
    assert taken.marker.pattern.shape == ("/",)


def test_the_cut_line_stands_below_the_limit() -> None:
    """With more rows than the limit a line is drawn, else none."""
    bars = [Bar(n, "note", 1 - n / 100, 0.0, n) for n in range(1, 15)]
    assert scores(bars, 12).layout.shapes[0].y0 == 1.5
    assert not scores(bars[:12], 12).layout.shapes


def test_slots_and_flips_name_sources_and_numbers_only() -> None:
    """Ticks outside the slider's range are left out."""
    assert list(slots({"note": 10, "photo": 2}, {"note": 12}, 12).data[0].x) == [10, 12]
    figure = flips({"note": [0.01, 0.9]}, {"note": 0.18}, {"note": 0.18}, -0.3, 0.5)
    assert list(figure.data[0].x) == [0.01]
