"""POST /snapshots, GET /snapshots/diff, POST /snapshots/cleanup end to end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.bootstrap import Core
from core.memory.keys import tips_key
from tests.support.dialogs import ODD_KEY
from tests.support.snapshots import count, row, upstream

PAIR = {"ruId": "ru-1", "tuId": "tu-9"}
KEY = tips_key("ru-1", "tu-9")


@pytest.fixture
def api(core: Core) -> Iterator[TestClient]:
    with TestClient(
        Starlette(routes=build_routes(lambda: core)), client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501"
    ) as desk:
        yield desk


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def test_capture_then_diff(api: TestClient) -> None:
    """Two days written, their difference read, in the documented shapes."""
    first = {
        **PAIR,
        "syncDate": "2026-11-29",
        "profileRu": {"a/b": 1, "age": 34},
        "notes": [{"text": "x", "date": "d"}],
    }
    answer = api.post(PREFIX + "/snapshots", json=first).json()
    assert (answer["written"], answer["unchanged"], answer["warnings"]) == (2, 0, [])
    assert api.post(PREFIX + "/snapshots", json=first).json()["unchanged"] == 2
    api.post(
        PREFIX + "/snapshots",
        json={
            **PAIR,
            "syncDate": "2026-11-30",
            "profileRu": {"a/b": 2, "age": 34},
            "photoTu": "https://example.org/1.jpg",
        },
    )
    found = api.get(PREFIX + "/snapshots/diff", params={"dialogKey": KEY, "from": "2026-11-29", "to": "2026-11-30"})
    assert found.json() == {
        "added": [{"entityType": "photo", "sourceRole": "tu", "sourceId": "tu"}],
        "removed": [{"entityType": "note", "sourceRole": "", "sourceId": "d"}],
        "changed": [
            {
                "entityType": "profile",
                "sourceRole": "ru",
                "sourceId": "ru",
                "fields": [{"op": "replace", "path": "/a~1b", "value": 2}],
            }
        ],
        "unchanged": 0,
        "warnings": [],
    }


def test_rows_with_different_fields(api: TestClient, sql: psycopg.Connection[Any]) -> None:
    """Case 8: one note with a date and one without, both with an expiry."""
    body = {**PAIR, "notes": [{"text": "dated", "date": "2026-11-20"}, {"text": "undated"}]}
    assert api.post(PREFIX + "/snapshots", json=body).json()["written"] == 2
    assert count(sql, ["expires_at is not null", "created_at is not null"]) == 2


def test_a_key_with_odd_signs(api: TestClient) -> None:
    """Case 6: written and read under exactly this key."""
    api.post(PREFIX + "/snapshots", json={"dialogKey": ODD_KEY, "syncDate": "2026-11-30", "profileRu": {}})
    query = {"dialogKey": ODD_KEY, "from": "2026-11-29", "to": "2026-11-30"}
    assert len(api.get(PREFIX + "/snapshots/diff", params=query).json()["added"]) == 1


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from": "2026-11-29", "to": "2026-11-30"}, "dialogKey"),
        ({"dialogKey": "k", "to": "2026-11-30"}, "from"),
        ({"dialogKey": "k", "from": "2026-11-29", "to": "yesterday"}, "to"),
    ],
)
def test_diff_refuses(api: TestClient, query: dict[str, str], field: str) -> None:
    """400 naming what is missing or no day."""
    answer = api.get(PREFIX + "/snapshots/diff", params=query)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


def test_capture_refuses(api: TestClient) -> None:
    """422 for a missing id, 400 for an argument of another kind."""
    assert api.post(PREFIX + "/snapshots", json={"ruId": "1"}).status_code == 422
    answer = api.post(PREFIX + "/snapshots", json={**PAIR, "notes": 5})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "notes")


def test_cleanup(api: TestClient, sql: psycopg.Connection[Any]) -> None:
    """Case 14 as the interface sees it: dry by default, limits, only the five expired rows go."""
    for n in range(5):
        upstream(sql, row(source_id=f"e{n}", expires_at="2026-01-01T00:00:00Z"))
        upstream(sql, row(source_id=f"n{n}", expires_at=None))
    [pinned] = upstream(sql, row(source_id="p", expires_at="2026-01-01T00:00:00Z"))
    sql.execute(
        "insert into desk_snapshot_pins (snapshot_id, dialog_key, reason, actor, until)"
        " values (%s, 'd1', 'r', '{}', now() + interval '1 day')",
        [pinned],
    )
    dry = api.post(PREFIX + "/snapshots/cleanup", json={}).json()
    assert (dry["expired"], dry["deleted"], dry["withoutExpiry"], dry["pinned"]) == (5, 0, 5, 1)
    assert dry["oldest"].startswith("2026-01-01")
    assert count(sql) == 11
    none = api.post(PREFIX + "/snapshots/cleanup", json={"dryRun": False, "limit": 0}).json()
    assert (none["expired"], none["deleted"]) == (5, 0)
    negative = api.post(PREFIX + "/snapshots/cleanup", json={"limit": -1})
    assert (negative.status_code, negative.json()["error"]["field"]) == (400, "limit")
    for wrong in ({"limit": "5"}, {"limit": True}, {"dryRun": "no"}, {"dryRun": 0}):
        assert api.post(PREFIX + "/snapshots/cleanup", json=wrong).status_code == 400
    assert count(sql) == 11
    assert api.post(PREFIX + "/snapshots/cleanup", json={"dryRun": False}).json()["deleted"] == 5
    assert count(sql) == 6
