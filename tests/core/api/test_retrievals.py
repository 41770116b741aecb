"""A request searched with its requestId is found again: the same chunks, scores and block, whatever came since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.bootstrap import Core
from core.memory.keys import both_keys
from core.memory.prompt import prompt_block
from tests.support.dialogs import ODD_KEY, body

REQUEST = "0f2b7c1e-1111-4222-8333-94a5b6c7d8e9"


@pytest.fixture
def api(core: Core) -> Iterator[TestClient]:
    with TestClient(
        Starlette(routes=build_routes(lambda: core)), client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501"
    ) as desk:
        yield desk


def searched(api: TestClient, key: str = ODD_KEY, query: str = "trust and chess", **more: Any) -> dict[str, Any]:
    sent = {"dialogKey": key, "query": query, "requestId": REQUEST, "explain": True, **more}
    answer: dict[str, Any] = api.post(PREFIX + "/memory/search", json=sent).json()
    return answer


def audit(api: TestClient, request_id: str = REQUEST, **query: str) -> dict[str, Any]:
    answer = api.get(f"{PREFIX}/memory/retrievals/{request_id}", params=query)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def parts(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    names = ("id", "text", "source", "weighted_score", "cosine", "boost", "rank", "note_date", "sent_at")
    return [tuple(row[name] for name in names) for row in rows]


def test_recorded_as_it_was(api: TestClient, core: Core) -> None:
    """Rows, scores to the last digit, query, weights, model and latency of the answer stand in the record."""
    core.ingest.ingest(body(ODD_KEY))
    answer = searched(api, limit=5)
    found = audit(api)
    assert (found["kind"], found["total"]) == ("recorded", 1)
    assert "not the same as used" in found["note"]
    [record] = found["retrievals"]
    assert parts(record["results"]) == parts(answer["results"])
    for name in ("query", "model", "weightsVersion", "sourceWeights", "dialogKey", "fallback"):
        assert record[name] == answer[name], name
    assert record["latencyMs"]["total"] == pytest.approx(answer["latencyMs"]["total"], abs=0.02)
    assert record["limit"] == 5
    block = prompt_block(core.retrievals.store.of_request(REQUEST).rows[0].chunks)
    assert record["promptBlock"] == block
    assert block.count("\n") == len(answer["results"])


def test_it_survives_its_chunks(api: TestClient, core: Core) -> None:
    """Deleted, merged into another key, merged back: chunks, scores and prompt block stay the same."""
    tips, generic = both_keys("ru-1", "tu-9")
    core.ingest.ingest(body(tips))
    core.ingest.ingest(body(generic))
    searched(api, tips)
    before = audit(api)["retrievals"][0]
    ids = [row["id"] for row in before["results"]]
    core.corrections.exclude(ids[:2], "stale", kind="deleted")
    core.corrections.exclude(ids[2:3], "stale")
    after = audit(api, replay="true")
    changes = {row["id"]: row["changes"] for row in after["replayed"]["drift"]}
    assert changes[ids[0]] == changes[ids[1]] == ["deleted"]
    assert changes[ids[2]] == ["excluded"]
    merged = core.merges.merge(generic, tips)
    moved = audit(api)["retrievals"][0]
    assert moved["dialogKey"] == generic
    core.merges.undo(merged.merge_id)
    back = audit(api)["retrievals"][0]
    for later in (after["retrievals"][0], moved, back):
        assert later["results"] == before["results"]
        assert later["promptBlock"] == before["promptBlock"]
    assert back["dialogKey"] == tips


def test_twice_under_one_id(api: TestClient, core: Core) -> None:
    """Two searches with one requestId are two records, the newest first."""
    core.ingest.ingest(body(ODD_KEY))
    searched(api, query="trust")
    searched(api, query="tea")
    found = audit(api)
    assert found["total"] == 2
    assert [record["query"] for record in found["retrievals"]] == ["tea", "trust"]


def test_nothing_found_is_recorded(api: TestClient, core: Core) -> None:
    """A search of an unknown dialog has a record without chunks and an empty block."""
    searched(api, "nobody")
    [record] = audit(api)["retrievals"]
    assert (record["results"], record["promptBlock"], record["tokensEstimated"]) == ([], "", 0)


def test_unknown_and_unusable(api: TestClient) -> None:
    """404 with a hint for a request nobody knows; 400 for a switch that is none; POST is refused."""
    answer = api.get(f"{PREFIX}/memory/retrievals/{REQUEST}")
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")
    assert api.get(f"{PREFIX}/memory/retrievals/x", params={"replay": "maybe"}).status_code == 400
    assert api.post(f"{PREFIX}/memory/retrievals/x", json={}).status_code == 405


def test_reconstructed(api: TestClient, core: Core) -> None:
    """A request known from its usage alone: the query of that moment, replayed, said to be reconstructed."""
    made = body("k1", messages=30)
    core.ingest.ingest(made)
    row = {"provider": "gemini", "model": "m", "phase": "context", "promptTokens": 900, "completionTokens": 40}
    api.post(
        PREFIX + "/usage",
        json={"requestId": REQUEST, "dialogKey": "k1", "entries": [{**row, "at": "2026-05-01T12:30:00Z"}]},
    )
    core.usage.recorder.flush()
    found = audit(api)
    assert (found["kind"], found["retrievals"]) == ("reconstructed", [])
    lines = found["query"].split("\n")
    # Message 12 is the latest of that moment: an outgoing one, message 11 the latest incoming one.
    assert lines[:2] == ["message number 11 about topic 4", "message number 12 about topic 5"]
    assert lines[2:12] == [f"message number {n} about topic {n % 7}" for n in range(3, 13)]
    assert not any("number 13" in line for line in lines)
    assert found["replayed"]["results"]
    assert found["tokensByPhase"] == [{"phase": "context", "calls": 1, "totalTokens": 940}]
