"""Writing the demo's history: in batches that say how far it is, once, and only marked rows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from core.db.client import Database
from core.errors import CoreError
from core.local.server import Endpoint
from core.services.demo_content import DemoDialog, demo_dialogs
from core.services.demo_history import DemoRows, count_rows, write_history
from core.services.demo_snapshots import demo_snapshots

NOW = datetime(2026, 11, 30, 17, 0, tzinfo=UTC)


@pytest.fixture
def db(endpoint: Endpoint) -> Iterator[Database]:
    opened = Database(endpoint.url, endpoint.service_role_key)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def few() -> list[DemoDialog]:
    return demo_dialogs(NOW)[:4]


def test_steps_count_up_and_a_second_run_adds_nothing(db: Database, few: list[DemoDialog]) -> None:
    """Each part begins at nothing and ends at its total, which the database then holds, also after a second run."""
    steps = list(write_history(db, few, NOW))
    ends = {part: total for part, done, total in steps if done == total}
    assert [part for part, done, _ in steps if done == 0] == ["snapshots", "usage", "retrievals", "query sets"]
    assert count_rows(db) == DemoRows(0, ends["snapshots"], ends["usage"], 5)
    list(write_history(db, few, NOW))
    assert count_rows(db) == DemoRows(0, ends["snapshots"], ends["usage"], 5)


@pytest.mark.parametrize(
    "change", [{"family": "tips"}, {"family": None}, {"id": "0b0f6c1e-0000-4000-8000-000000000001"}]
)
def test_an_unmarked_snapshot_is_refused(db: Database, few: list[DemoDialog], change: dict[str, str | None]) -> None:
    """The function writes demo rows alone."""
    row = {**demo_snapshots(few, NOW)[0], **change}
    with pytest.raises(CoreError):
        db.rpc("desk_write_demo_snapshots", {"p_rows": [row]}, read=False)
    assert count_rows(db) == DemoRows(0, 0, 0, 0)


def test_a_price_that_somebody_entered_stays_alone(db: Database, few: list[DemoDialog]) -> None:
    """No invented price beside it."""
    row = {"provider": "xai", "model": "grok-4", "valid_from": "2026-01-01T00:00:00Z", "size_over": 0, "input_usd": "1"}
    row |= {"source": "vendor", "source_date": "2026-01-01", "entered_by": "me"}
    db.rpc("desk_set_prices", {"p_rows": [row], "p_events": []}, read=False)
    list(write_history(db, few, NOW))
    prices = db.rpc("desk_price_list", {}, read=True, returns=list)
    assert [p["source"] for p in prices if p["model"] == "grok-4"] == ["vendor"]
    assert count_rows(db).prices == 4
