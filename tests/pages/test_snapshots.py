"""The Snapshots page: empty, full, broken, and what a click leads to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pandas as pd
import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import StatementTimeout
from core.snapshots.reads import SnapshotReads
from tests.pages.conftest import ODD, calm, texts
from tests.support.snapshots import count, row, upstream

Open = Callable[..., AppTest]
MARK = {"entity_type": "daily_sync", "source_id": "daily-sync", "payload": {"completedAt": "x"}}


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def two_days(core: Core, sql: psycopg.Connection[Any]) -> Core:
    """Yesterday and today of one dialog: a changed profile with odd texts and keys, a new note, one that expired."""
    today = core.clock.now().date()
    before, now = f"{today - timedelta(days=1)}", f"{today}"
    profile = {"entity_type": "profile", "source_role": "ru", "source_id": "ru"}
    upstream(
        sql,
        row(day=before, **profile, payload={"name": "Zoë", "a/b": 1, "city": None}),
        row(day=before, **MARK),
        row(day=now, **profile, payload={"name": "Zoe\u0308", "a/b": ODD}),
        row(day=now, source_id="n1", payload={"text": ODD}, text=ODD),
        row("d2", before, source_id="old", expires_at="2026-01-01T00:00:00Z"),
        row("d2", before, source_id="never", expires_at=None),
    )
    return core


def table(at: AppTest, column: str) -> pd.DataFrame:
    return next(d.value for d in at.dataframe if column in d.value)


def view(open_page: Open, name: str, session: dict[str, Any] | None = None) -> AppTest:
    return calm(open_page("snapshots", {**(session or {}), "view": name}))


def test_empty(core: Core, open_page: Open) -> None:
    """Without a snapshot every view says so, and why."""
    for name, words in (
        ("coverage", "Nothing is known of these days"),
        ("day", "No snapshot is stored"),
        ("compare", "No snapshot is stored"),
        ("history", "No entity is chosen"),
        ("expiry", "No snapshot is stored"),
    ):
        assert words in texts(view(open_page, name))


def test_coverage(two_days: Core, open_page: Open) -> None:
    """Dialogs and days with their counts; a day of which nothing is known has no number."""
    at = view(open_page, "coverage")
    days = table(at, "stored")
    assert list(days["dialogs"].iloc[:2]) == [1, 2]
    assert days["dialogs"].iloc[2:].isna().all()
    assert list(table(at, "partial")["partial"]) == [0, 1]  # today is not over: the sync of d1 is due


def test_a_day(two_days: Core, open_page: Open) -> None:
    """Entities of the last day; a chosen row shows its payload character for character."""
    at = view(open_page, "day")
    assert set(table(at, "entity_type")["entity_type"]) == {"profile", "note"}
    today = two_days.clock.now().date()
    position = list(table(at, "entity_type")["entity_type"]).index("note")
    at.session_state[f"day-{today}-all-1"] = {"selection": {"rows": [position], "columns": [], "cells": []}}
    assert ODD in texts(calm(at.run())).replace("\\\\", "\\")
    at.button(key="verify").click()
    assert "2 hashes are right" in texts(calm(at.run()))


def test_a_wrong_hash_is_named(two_days: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """The verification lists the row."""
    sql.execute("update tips_daily_entity_snapshots set payload = '{\"text\": \"edited\"}' where source_id = 'n1'")
    at = view(open_page, "day")
    at.button(key="verify").click()
    at.run()
    assert "1 hash is not that of the payload" in texts(at)
    assert list(table(at, "recomputed")["source_id"]) == ["n1"]


def test_compare_all_dialogs(two_days: Core, open_page: Open) -> None:
    """Totals, and the dialogs that differ."""
    at = view(open_page, "compare")
    assert list(table(at, "changed")["changed"]) == [1, 0]
    assert {m.label: m.value for m in at.metric}["Added"] == "1"


def test_compare_one_dialog(two_days: Core, open_page: Open) -> None:
    """Real key names, missing apart from null, and code points said where texts look alike."""
    at = view(open_page, "compare", {"desk.dialog": ("d1", "ru-1", "tu-9")})
    fields = table(at, "place").set_index("place")
    assert fields.loc["name", "what"] == "code points only"
    assert "U+00EB" in fields.loc["name", "before"]
    assert "U+0308" in fields.loc["name", "after"]
    assert (fields.loc["city", "before"], fields.loc["city", "after"]) == ("null", "missing")
    assert fields.loc["a/b", "what"] == "replaced"
    assert ODD in fields.loc["a/b", "after"]


def test_history(two_days: Core, open_page: Open) -> None:
    """An entity's days, and when it last changed."""
    at = view(open_page, "history", {"desk.kept.snapshot-entity": ("d1", "profile", "ru", "ru")})
    assert list(table(at, "content_hash")["change"]) == ["changed", "first known"]
    assert {m.label: m.value for m in at.metric}["Last changed"] == f"{two_days.clock.now().date()}"


def test_preview_then_delete(two_days: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """Nothing can be deleted before a preview; then one press deletes what it named."""
    at = view(open_page, "expiry")
    assert not [b for b in at.button if b.key == "cleanup-run"]
    at.button(key="cleanup-preview").click()
    at.run()
    assert "1 snapshot would go" in texts(calm(at))
    at.button(key="cleanup-run").click()
    calm(at.run())
    for _ in range(50):
        if count(sql) == 5:
            break
        time.sleep(0.1)
    for _ in range(50):
        if "1 expired snapshot deleted" in texts(calm(at.run())):
            break
        time.sleep(0.1)
    else:
        raise AssertionError(texts(at))


def test_pin(two_days: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """From the list of expired ones: a reason, a press, and it stays; without a reason it is said why not."""
    at = view(open_page, "expiry", {"state": "expired"})
    at.session_state["state-expired-1"] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at = calm(at.run())
    [(snapshot,)] = sql.execute("select id::text from tips_daily_entity_snapshots where source_id = 'old'").fetchall()
    press = next(b for b in at.button if b.label == "Pin")
    press.click()
    assert "A reason" in texts(at.run())
    at.text_input(key=f"reason-{snapshot}").set_value("a complaint")
    next(b for b in at.button if b.label == "Pin").click()
    calm(at.run())
    assert sql.execute("select reason from desk_snapshot_pins").fetchall() == [("a complaint",)]


def test_hosted_asks_for_a_yes(two_days: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a hosted database the daily run is off; a preview makes the button live, and the yes is kept."""
    from core.snapshots import schedule

    real = schedule.schedule_of
    monkeypatch.setattr(schedule, "schedule_of", lambda answer, *, embedded: real(answer, embedded=False))
    at = view(open_page, "expiry")
    assert at.button(key="schedule-on").disabled
    at.button(key="cleanup-preview").click()
    at = calm(at.run()).run()
    at.button(key="schedule-on").click()
    assert "Confirmed by Local operator" in texts(calm(at.run()))


@pytest.mark.parametrize("name", ["coverage", "day", "compare", "expiry"])
def test_broken(two_days: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """A database that gives up is said, with a retry; afterwards the page is back."""

    def slow(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("It took too long.")

    with monkeypatch.context() as broken:
        for read in ("calendar", "entities", "diff_days", "expiry"):
            broken.setattr(SnapshotReads, read, slow)
        at = open_page("snapshots", {"view": name})
        assert "Snapshots cannot be shown" in texts(at)
    at.button(key="retry-Snapshots").click()
    assert "cannot be shown" not in texts(calm(at.run()))


def test_stale(two_days: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before stays on the screen, marked as old."""
    import streamlit as st

    at = view(open_page, "coverage")

    def slow(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("It took too long.")

    monkeypatch.setattr(SnapshotReads, "expiry", slow)
    st.cache_data.clear()
    assert "It took too long." in texts(at.run())
    assert table(at, "stored") is not None
