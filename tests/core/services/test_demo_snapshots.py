"""What the demo snapshots promise: days, changes, gaps, expiry; true hashes; nothing from the future."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any

import pytest

from core.canonical import content_hash
from core.services.demo_content import demo_dialogs
from core.services.demo_snapshots import demo_snapshots

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)
CURRENT = [(NOW.date() - timedelta(n)).isoformat() for n in range(13, -1, -1)]


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    return demo_snapshots(demo_dialogs(NOW), NOW)


def test_fourteen_days_of_every_kind(rows: list[dict[str, Any]]) -> None:
    """Each day has hundreds of rows, of all five kinds; every row is marked, and its identity single."""
    days = Counter(row["sync_date"] for row in rows)
    assert all(days[day] > 200 for day in CURRENT)
    assert {row["entity_type"] for row in rows} == {"daily_sync", "dialog", "note", "photo", "profile"}
    assert {row["family"] for row in rows} == {"demo"}
    identity = ("dialog_key", "sync_date", "entity_type", "source_role", "source_id")
    assert len({tuple(row[name] for name in identity) for row in rows}) == len({row["id"] for row in rows}) == len(rows)


def test_hashes_are_those_of_the_payloads(rows: list[dict[str, Any]]) -> None:
    """A verification finds nothing to complain of."""
    assert all(row["content_hash"] == content_hash(row["payload"]) for row in rows[::7])


def test_facts_change_within_the_days(rows: list[dict[str, Any]]) -> None:
    """Ages, occupations and hobbies differ between two days of one dialog, notes are edited and withdrawn, photos
    replaced; messages never change."""
    history: dict[tuple[str, ...], dict[str, dict[str, Any]]] = defaultdict(dict)
    for row in rows:
        key = (row["entity_type"], row["dialog_key"], row["source_role"], row["source_id"])
        history[key][row["sync_date"]] = row
    changed: Counter[str] = Counter()
    for (kind, *_), days in history.items():
        ordered = [days[day] for day in sorted(days)]
        for before, after in pairwise(ordered):
            if before["content_hash"] != after["content_hash"]:
                changed[kind] += 1
                if kind == "profile":
                    one, two = before["payload"], after["payload"]
                    changed.update(name for name in ("age",) if one.get(name) != two.get(name))
                    details = one.get("details", {}), two.get("details", {})
                    changed.update(n for n in ("occupation", "hobbies") if details[0].get(n) != details[1].get(n))
    assert min(changed[n] for n in ("profile", "note", "photo", "age", "occupation", "hobbies")) >= 3, changed
    assert changed["dialog"] == 0


def test_syncs_are_missing_and_broken_off(rows: list[dict[str, Any]]) -> None:
    """Some dialogs have days without any row, some days lack the mark, and one day is worse than all others."""
    marks = Counter(row["sync_date"] for row in rows if row["entity_type"] == "daily_sync")
    dialogs = Counter(day for _, day in {(row["dialog_key"], row["sync_date"]) for row in rows})
    assert min(CURRENT, key=lambda day: dialogs[day]) == CURRENT[-7]
    assert any(marks[day] < dialogs[day] for day in CURRENT)
    assert all(marks[day] > 10 for day in CURRENT)
    silent = {row["dialog_key"] for row in rows} - {row["dialog_key"] for row in rows if row["sync_date"] > CURRENT[-6]}
    assert len(silent) >= 3


def test_sixty_rows_are_past_their_expiry(rows: list[dict[str, Any]]) -> None:
    """Of 15 to 20 days ago; some rows have no expiry; all others live 14 days from their delivery."""
    expired = [row for row in rows if row["expires_at"] and row["expires_at"] < NOW.isoformat()]
    assert len(expired) == 60
    assert {(NOW.date() - datetime.fromisoformat(r["sync_date"]).date()).days for r in expired} == set(range(15, 21))
    assert 2 <= sum(row["expires_at"] is None for row in rows) <= 20


def test_nothing_is_of_the_future() -> None:
    """Before the day's sync there is none; rows and what they tell of lie in the past at any hour."""
    for hour in (0, 4, 23):
        now = NOW.replace(hour=hour, minute=30)
        rows = demo_snapshots(demo_dialogs(now), now)
        assert max(row["created_at"] for row in rows) <= now.isoformat()
        assert max(row["entity_at"] for row in rows if row["entity_at"]) <= now.isoformat()
        assert len([row for row in rows if row["expires_at"] and row["expires_at"] < now.isoformat()]) >= 60
        assert any(row["sync_date"] == now.date().isoformat() for row in rows) == (hour > 3)


def test_the_same_day_gives_the_same_rows(rows: list[dict[str, Any]]) -> None:
    """A load that is completed an hour later adds nothing that differs."""
    later = NOW + timedelta(hours=1)
    assert demo_snapshots(demo_dialogs(later), later) == rows
