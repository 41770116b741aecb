"""GET /metrics: Prometheus reads it, and there is nothing of anybody in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api.routes import PREFIX, build_routes
from core.db.client import Database
from core.errors import DatabaseUnavailable
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core


@pytest.fixture
def client(core: Core) -> Iterator[TestClient]:
    with TestClient(
        Starlette(routes=build_routes(lambda: core)), base_url="http://127.0.0.1", client=("127.0.0.1", 5)
    ) as made:
        yield made


def _samples(client: TestClient) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    answer = client.get(f"{PREFIX}/metrics")
    assert answer.status_code == 200 and answer.headers["content-type"].startswith("text/plain")
    families = text_string_to_metric_families(answer.text)
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


def test_what_is_measured(client: TestClient, core: Core) -> None:
    """Components, chunks by source and model, dialogs, spool, jobs, expired rows, tokens of today, requests."""
    core.ingest.ingest(body())
    entry = {"provider": "gemini", "model": 'a"b\\c\n', "phase": "embed", "promptTokens": 7, "completionTokens": 0}
    core.usage.record({"requestId": "6f0c5c6e-98f8-4f0a-9c1e-0f6f6ad1c001", "entries": [entry]})
    assert client.get(f"{PREFIX}/memory/status").status_code == 200
    assert client.get(f"{PREFIX}/nowhere/ru-1").status_code == 404
    found = _samples(client)
    names = {name for name, _ in found}
    assert found["memory_desk_up", ()] == 1
    assert found["memory_desk_component_status", (("component", "database"), ("status", "ok"))] == 1
    assert found["memory_desk_chunks", (("source", "note"),)] == 2
    assert found["memory_desk_model_chunks", (("model", "test:768"),)] > 8
    assert found["memory_desk_dialogs", ()] == 1 and found["memory_desk_expired_snapshots", ()] == 0
    assert found["memory_desk_spool_records", (("state", "refused"),)] == 0
    tokens = [v for (name, _), v in found.items() if name == "memory_desk_tokens_today_total"]
    assert tokens == [7]
    asked = (("method", "GET"), ("route", "/memory/status"), ("status", "200"))
    assert found["memory_desk_api_request_seconds_count", asked] >= 1
    missed = (("method", "GET"), ("route", "other"), ("status", "404"))
    assert found["memory_desk_api_request_seconds_count", missed] >= 1
    assert {"memory_desk_check_seconds", "memory_desk_api_request_seconds_bucket"} <= names


def test_nothing_personal(client: TestClient, core: Core) -> None:
    """No key, no id, no text, no path of a request."""
    core.ingest.ingest(body("secret-key"))
    client.get(f"{PREFIX}/usage/dialog/secret-key")
    text = client.get(f"{PREFIX}/metrics").text
    assert not [word for word in ("secret-key", "ru-1", "tu-9", "Taras", "trust") if word in text]


def test_while_the_database_is_away(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """Still 200: a scrape that fails would say nothing. The figures are missing, not zero."""

    def gone(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("away")

    for name in ("rpc", "count", "auth_health"):
        monkeypatch.setattr(Database, name, gone)
    found = _samples(client)
    assert found["memory_desk_up", ()] == 0
    assert found["memory_desk_component_status", (("component", "database"), ("status", "down"))] == 1
    assert "memory_desk_chunks" not in {name for name, _ in found}
