"""The operator's records on the real store, with a clock that stands still on 30 November 2026, 14:00 in Kyiv."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from core.bootstrap import Core
from core.clock import FixedClock
from core.companion.records.records import Records, open_records

Told = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(datetime(2026, 11, 30, 12, 0, tzinfo=UTC))


@pytest.fixture
def records(core: Core, clock: FixedClock) -> Records:
    return open_records(core.db, core.events, clock, ZoneInfo("Europe/Kyiv"))


@pytest.fixture
def told(core: Core) -> Told:
    """The payloads of the stored events of a type, oldest first; `whole` gives the stored events."""

    def payloads(type: str, *, whole: bool = False) -> list[Any]:
        assert core.events.flush()
        rows = [row for row in core.events.store.query(limit=500).rows if row.type == type]
        return [row if whole else dict(row.payload) for row in reversed(rows)]

    return payloads
