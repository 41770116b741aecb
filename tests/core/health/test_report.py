"""One word for all components: unknown is not ok, and two of them decide between up and down."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from core.health.report import Component, HealthReport, Status

AT = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)


def _report(**statuses: Status) -> HealthReport:
    parts = (Component(n, n.title(), s, f"{n} is {s}", "", AT, AT, 1.0, {}) for n, s in statuses.items())
    return HealthReport(tuple(parts), AT)


@pytest.mark.parametrize(
    ("statuses", "overall"),
    [
        ({"auth": "ok", "database": "ok", "embedder": "ok"}, "ok"),
        ({"auth": "ok", "database": "ok", "embedder": "unknown"}, "degraded"),
        ({"auth": "ok", "database": "ok", "protection": "down"}, "degraded"),
        ({"auth": "ok", "database": "degraded"}, "degraded"),
        ({"auth": "down", "database": "ok"}, "down"),
        ({"auth": "ok", "database": "down"}, "down"),
        ({"auth": "ok", "database": "unknown"}, "down"),
        ({"auth": "ok"}, "down"),
        ({}, "down"),
    ],
)
def test_the_word_for_all(statuses: dict[str, Status], overall: Status) -> None:
    """`ok` only if everything is; `down` if Auth or the chunk table does not work, or was not looked at."""
    assert _report(**statuses).status == overall


def test_the_reason_names_what_matters_most() -> None:
    """An essential component before any other, and down before degraded before unknown."""
    report = _report(spool="degraded", protection="down", auth="ok", database="degraded")
    assert report.reason == "Database: database is degraded"
    assert _report(auth="ok", database="ok", spool="unknown", index="down").reason == "Index: index is down"
    assert _report(auth="ok", database="ok").reason == ""


def test_the_json_is_camel_case_and_serialisable() -> None:
    """The body of GET /health."""
    body = json.loads(json.dumps(_report(auth="ok", database="ok").as_json()))
    assert (body["status"], body["checkedAt"]) == ("ok", "2026-11-30T14:02:00+00:00")
    assert set(body["components"][0]) == {
        *("name", "label", "status", "reason", "hint", "checkedAt", "since", "latencyMs", "facts")
    }
