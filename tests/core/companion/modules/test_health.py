"""Health as a module: the state of a day, checks that are told, and what only people do."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.bootstrap import Core
from core.companion.modules import watch
from core.events.actor import run_as, system
from tests.support.companion import Office, agent


@pytest.fixture
def office(core: Core) -> Office:
    return Office(core, core.clock.now() + timedelta(seconds=5))


def test_the_day(office: Office) -> None:
    """Every component with its state, the incidents and checks of the day, the pending migrations."""
    office.core.events.emit("HealthDegraded", {"component": "search", "status": "down"})
    watch.check(office.desk)
    office.core.events.flush()
    day = office.day()["health"]
    assert day["status"] in ("ok", "degraded") and day["components"]["database"] == "ok"
    assert (day["incidents"], day["checks"], day["pending_migrations"]) == (1, 1, [])


def test_checks_are_told(office: Office) -> None:
    """By the AI that asked, or by the product once an hour; a part that does not exist is left out."""
    assert office.call("run_health_check", actor=agent()).success
    with run_as(system("projection")):
        watch.check(office.desk)
    office.core.events.flush()
    rows = office.core.events.store.query(type="HealthChecked").rows
    assert [row.actor.kind for row in rows] == ["system", "ai"]
    assert rows[0].payload["auth_ok"] and rows[0].payload["chunks_ok"] and rows[0].payload["rpc_ok"]


def test_reads(office: Office) -> None:
    """The history and the migrations, for a model too."""
    assert office.call("health_history", actor=agent(), hours=24).success
    assert not office.call("health_history", hours=1000).success
    found = office.call("list_migrations", actor=agent())
    assert found.success and found.llm_data["pending"] == []


def test_the_schema_is_changed_by_people(office: Office) -> None:
    """No AI; and for a person the tool says where it is done."""
    assert "not for an AI" in office.call("apply_migration", actor=agent(), name="x").message
    assert "python -m core migrate" in office.call("apply_migration", name="x").message


def test_minutes_that_were_not_well(office: Office) -> None:
    """From the samples of the health history, by local day."""
    now = office.core.clock.now()
    samples = [
        {
            "at": (now - timedelta(minutes=m)).isoformat(),
            "component": "overall",
            "status": s,
            "code": "",
            "latency_ms": 1,
        }
        for m, s in ((9, "ok"), (6, "down"), (2, "ok"))
    ]
    office.core.db.rpc("desk_note_health", {"p_rows": samples}, read=False)
    metric = next(m for m in office.modules["health"].metrics if m.id == "health.degraded_minutes")
    today = office.desk.today()
    assert metric.daily
    assert sum(metric.daily(today - timedelta(days=1), today).values()) == pytest.approx(4.0, abs=0.1)
