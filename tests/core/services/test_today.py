"""Today beside yesterday: the same stretch of both days, on the clock of the zone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID
from zoneinfo import ZoneInfo

import psycopg
import pytest

from core.bootstrap import Core
from core.services.today import Today, today_and_yesterday

NOW = datetime(2026, 11, 30, 9, 30, tzinfo=UTC)
KYIV = ZoneInfo("Europe/Kyiv")


def ask(core: Core, zone: ZoneInfo = KYIV) -> Today:
    return today_and_yesterday(core.usage.reports, core.events.store, core.snapshots.reads, NOW, zone)


def call(core: Core, at: datetime, tokens: int) -> None:
    entry = {"provider": "xai", "model": "grok-4", "phase": "embed", "promptTokens": tokens, "at": at.isoformat()}
    core.usage.record({"requestId": str(UUID(int=tokens)), "entries": [entry]})


def test_an_empty_database_has_zeros_and_unknowns(core: Core) -> None:
    """Nothing used is zero; a sync of which nothing is known is not."""
    found = ask(core)
    assert not found.used
    assert found.today.usage.tokens.total == found.yesterday.usage.tokens.total == 0
    assert found.today.sync.complete is None
    assert found.expiry.total == 0
    assert found.today.events.get("SearchPerformed", 0) == 0


def test_both_days_end_with_the_hour_that_has_begun(core: Core) -> None:
    """From local midnight (22:00 UTC the day before); yesterday's evening is in neither."""
    call(core, NOW - timedelta(minutes=5), 1)
    call(core, datetime(2026, 11, 29, 22, 10, tzinfo=UTC), 2)
    call(core, datetime(2026, 11, 29, 9, 10, tzinfo=UTC), 4)
    call(core, datetime(2026, 11, 28, 22, 10, tzinfo=UTC), 8)
    call(core, datetime(2026, 11, 29, 18, 0, tzinfo=UTC), 16)
    call(core, datetime(2026, 11, 28, 21, 50, tzinfo=UTC), 32)
    found = ask(core)
    assert found.used
    assert found.today.usage.tokens.total == 1 + 2
    assert found.yesterday.usage.tokens.total == 4 + 8
    assert ask(core, ZoneInfo("UTC")).today.usage.tokens.total == 1


@pytest.mark.parametrize(("back", "side"), [(timedelta(0), "today"), (timedelta(1), "yesterday")])
def test_syncs_are_those_of_the_utc_day(core: Core, dsn: str, back: timedelta, side: str) -> None:
    """A completed sync counts for its day, whole."""
    day = (NOW - back).date()
    with psycopg.connect(dsn) as connection:
        connection.execute(
            "insert into tips_daily_entity_snapshots (dialog_key, sync_date, entity_type, source_id, content_hash)"
            " values ('k', %s, 'daily_sync', 'daily-sync', 'h'), ('k', %s, 'note', 'n', 'h')",
            (day, day),
        )
    found = ask(core)
    assert getattr(found, side).sync.complete == 1
    assert getattr(found, side).sync.entities == 1
