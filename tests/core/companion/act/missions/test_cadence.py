"""When missions run, over changes of clocks too."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.companion.act.missions.cadence import Cadence, first_instant, read_cadence
from core.errors import InputError

KYIV, CAIRO = ZoneInfo("Europe/Kyiv"), ZoneInfo("Africa/Cairo")


def at(text: str, zone: ZoneInfo = KYIV) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def runs(cadence: Cadence, start: datetime, zone: ZoneInfo, number: int) -> list[str]:
    return [r.astimezone(zone).strftime("%m-%d %H:%M") for r in cadence.upcoming(start, zone, number)]


def test_each_kind() -> None:
    """Manual never; a quarter of an hour; tomorrow; next Sunday; by cron."""
    now = at("2026-11-30T10:00")
    assert Cadence().next_after(now, KYIV) is None
    assert Cadence("interval", minutes=15).next_after(now, KYIV) == now + timedelta(minutes=15)
    assert runs(Cadence("daily", hour=9), now, KYIV, 2) == ["12-01 09:00", "12-02 09:00"]
    assert runs(Cadence("weekly", hour=12, weekday=6), now, KYIV, 2) == ["12-06 12:00", "12-13 12:00"]
    assert runs(Cadence("cron", cron="0 9 31 * *"), now, KYIV, 3) == ["12-31 09:00", "01-31 09:00", "03-31 09:00"]
    assert runs(Cadence("cron", cron="0 0 */10 * *"), at("2027-01-31T00:00"), KYIV, 2) == ["02-01 00:00", "02-11 00:00"]


@pytest.mark.parametrize(
    ("now", "next_run"),
    [
        ("2026-11-30T08:59:59", "11-30 09:00"),
        ("2026-11-30T09:00", "12-01 09:00"),
        ("2026-11-30T09:00:01", "12-01 09:00"),
    ],
)
def test_exactly_the_moment_is_the_next_day(now: str, next_run: str) -> None:
    """Strictly after: a run never starts the same run again."""
    assert runs(Cadence("daily", hour=9), at(now), KYIV, 1) == [next_run]


def test_the_hour_that_is_skipped() -> None:
    """03:30 on 28 March 2027 does not exist in Kyiv: once, right after the gap, and the day after as always."""
    daily = Cadence("daily", hour=3, minute=30)
    assert runs(daily, at("2027-03-26T12:00"), KYIV, 4) == ["03-27 03:30", "03-28 04:00", "03-29 03:30", "03-30 03:30"]
    cron = Cadence("cron", cron="30 3 * * *")
    assert runs(cron, at("2027-03-26T12:00"), KYIV, 3) == ["03-27 03:30", "03-28 04:00", "03-29 03:30"]


def test_the_hour_that_comes_twice() -> None:
    """03:30 on 31 October 2027 comes twice in Kyiv: one run, the first."""
    for cadence in (Cadence("daily", hour=3, minute=30), Cadence("cron", cron="30 3 * * *")):
        found = cadence.upcoming(at("2027-10-30T12:00"), KYIV, 3)
        assert [f.astimezone(KYIV).strftime("%d %H:%M") for f in found] == ["31 03:30", "01 03:30", "02 03:30"]
        assert found[0] == datetime(2027, 10, 31, 0, 30, tzinfo=UTC)
        assert cadence.next_after(found[0] + timedelta(minutes=30), KYIV) == found[1]


def test_a_midnight_that_does_not_exist() -> None:
    """30 April 2027 begins at 01:00 in Cairo: the day has its run."""
    found = runs(Cadence("daily", hour=0), at("2027-04-28T12:00", CAIRO), CAIRO, 3)
    assert found == ["04-29 00:00", "04-30 01:00", "05-01 00:00"]


def test_weekly_over_the_change_of_clocks() -> None:
    """Noon stays noon."""
    found = runs(Cadence("weekly", hour=12, weekday=6), at("2027-03-25T18:00"), KYIV, 2)
    assert found == ["03-28 12:00", "04-04 12:00"]


@settings(max_examples=80, deadline=None)
@given(
    zone=st.sampled_from(sorted(z for z in available_timezones() if "/" in z and not z.startswith(("Etc", "posix")))),
    day=st.datetimes(datetime(2024, 1, 1), datetime(2029, 1, 1)),
    hour=st.integers(0, 23),
    minute=st.integers(0, 59),
)
def test_one_run_for_each_local_date(zone: str, day: datetime, hour: int, minute: int) -> None:
    """In every zone: neither none nor two, in order, never in the past."""
    where = ZoneInfo(zone)
    start = day.replace(tzinfo=UTC)
    found = Cadence("daily", hour=hour, minute=minute).upcoming(start, where, 12)
    assert all(one > start for one in found) and list(found) == sorted(set(found))
    dates = [one.astimezone(where).date() for one in found]
    assert len(set(dates)) == len(dates)
    skipped = {a + timedelta(1) for a, b in itertools.pairwise(dates) if b != a + timedelta(1)}
    # A whole date can be missing where a zone crosses the date line, and only there.
    assert all(
        first_instant(datetime(d.year, d.month, d.day, 12), where).astimezone(where).date() != d for d in skipped
    )


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ({"kind": "yearly"}, "kind"),
        ({"kind": "interval", "minutes": 1}, "minutes"),
        ({"kind": "interval", "minutes": True}, "minutes"),
        ({"kind": "daily"}, "hour"),
        ({"kind": "daily", "hour": 24}, "hour"),
        ({"kind": "weekly", "hour": 9, "weekday": 7}, "weekday"),
        ({"kind": "cron", "cron": "0 9 * *"}, "cron"),
        ({"kind": "cron", "cron": "61 9 * * *"}, "cron"),
        ({"kind": "cron", "cron": "0 9 30 2 *"}, "cron"),
        ({"kind": "cron", "cron": "* * * * *"}, "cron"),
        ({"kind": "cron", "cron": "@daily"}, "cron"),
        ({"kind": "cron", "cron": "R 9 * * *"}, "cron"),
        ({"kind": "cron", "cron": None}, "cron"),
    ],
)
def test_what_cannot_be_run_is_refused_by_its_field(raw: dict[str, Any], field: str) -> None:
    """Before it is stored."""
    with pytest.raises(InputError) as refused:
        read_cadence(raw)
    assert refused.value.field == f"cadence.{field}"


@pytest.mark.parametrize(
    "raw",
    [
        {"kind": "manual"},
        {"kind": "interval", "minutes": 90},
        {"kind": "daily", "hour": 7, "minute": 5},
        {"kind": "weekly", "hour": 7, "minute": 0, "weekday": 0},
        {"kind": "cron", "cron": "0 9 * * mon-fri"},
    ],
)
def test_a_stored_cadence_reads_back(raw: dict[str, Any]) -> None:
    """The same again."""
    assert read_cadence(read_cadence(raw).as_json()) == read_cadence(raw)
