"""Numbers, times and keys as the pages show them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pages._shared import formats

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("before", "words"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=60), "1 h ago"),
        (timedelta(hours=25), "1 d ago"),
        (timedelta(days=59), "59 d ago"),
        (timedelta(days=61), "2026-09-30"),
        (timedelta(minutes=-5), "5 min from now"),
    ],
)
def test_relative_times(before: timedelta, words: str) -> None:
    """A past instant is said relative, a far one by its day, and a future one is not made past."""
    assert formats.ago(NOW - before, NOW) == words


def test_no_time_is_never() -> None:
    """An absent time is said, not shown as an epoch."""
    assert formats.ago(None, NOW) == "never"
    assert formats.moment(None, ZoneInfo("UTC")) == "–"


def test_moments_stand_in_the_zone_of_the_settings() -> None:
    """The zone decides the day; a plain day never moves."""
    late = datetime(2026, 11, 30, 22, 30, tzinfo=UTC)
    assert formats.moment(late, ZoneInfo("Europe/Kyiv")) == "2026-12-01 00:30:00"
    assert formats.moment(late.date(), ZoneInfo("America/Los_Angeles")) == "2026-11-30"


def test_times_of_the_database_parse_in_both_forms() -> None:
    """Supabase writes seconds with and without a fraction; a value without a zone counts as UTC."""
    assert formats.parse("2026-11-30T12:00:00.123+00:00") == NOW + timedelta(milliseconds=123)
    assert formats.parse("2026-11-30T12:00:00") == NOW
    assert formats.parse(None) is None


def test_numbers() -> None:
    """Thousands are grouped, tokens short from ten thousand, boosts signed, an unknown number is a dash and no zero."""
    assert formats.count(12345) == "12,345"
    assert formats.count(None) == "–"
    assert (formats.short(9999), formats.short(12_400)) == ("9,999", "12.4k")
    assert (formats.signed(0.18), formats.signed(-0.05), formats.signed(-0.0001)) == ("+0.180", "-0.050", "0.000")
    assert (formats.milliseconds(0.42), formats.milliseconds(1234.0)) == ("0.4 ms", "1,234 ms")


def test_keys_are_shortened_only_when_long() -> None:
    """A hash shows its first eight characters; a short key given by a caller stays whole."""
    assert formats.key("ab" * 32) == "abababab…"
    assert formats.key('k"1,2') == 'k"1,2'
    assert len(formats.key("x" * 300)) == 24


def test_snippet_folds_lines_and_says_that_it_cut() -> None:
    """A list shows one line of a text, with an ellipsis where it was cut."""
    assert formats.snippet("a\n b") == "a b"
    assert formats.snippet("x" * 100, 10) == "x" * 9 + "…"


def test_events_are_named_in_words() -> None:
    """As the catalogue has them, apart and in lower case."""
    assert formats.event("DialogIngested") == "Dialog ingested"
    assert formats.event("UnknownModelShareHigh") == "Unknown model share high"


def test_names_are_told_apart() -> None:
    """The first keeps its name, the others get a number that no other has."""
    assert formats.apart({1: "a", 2: "b", 3: "a", 4: "a"}) == {1: "a", 2: "b", 3: "a (2)", 4: "a (3)"}
    assert formats.apart({1: "a", 2: "a (2)", 3: "a"}) == {1: "a", 2: "a (2)", 3: "a (3)"}
