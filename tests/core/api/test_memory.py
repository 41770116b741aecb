"""The memory routes end to end: real database, deterministic embedder, the existing service's shapes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.bootstrap import Core

BODY = {
    "ruId": "ru-1",
    "tuId": "tu-9",
    "conversationJson": {
        "messages": [
            {"id": "m1", "body": "I like long trains", "is_incoming": True, "sent_at": "2026-11-01T10:00:00Z"},
            {"id": "m2", "body": "Trains are slow", "is_incoming": False, "sent_at": "2026-11-01T10:05:00Z"},
        ],
        "aiNotes": [{"id": "n1", "text": "he worries about trust", "date": "2026-11-02"}],
    },
    "profileJson": {"name": "Ann", "age": 34},
}
TIPS_KEY = "e4ca3b5ea17921b6369c26caeed13c7832fec8324862a695de20155c8b73e515"


@pytest.fixture
def api(core: Core) -> Iterator[TestClient]:
    with TestClient(
        Starlette(routes=build_routes(lambda: core)), client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501"
    ) as desk:
        yield desk


def test_ingest_then_search(api: TestClient) -> None:
    """What went in comes out under the same key, each result exactly the RPC's row."""
    first = api.post(PREFIX + "/memory/ingest", json=BODY).json()
    assert first["dialogKey"] == TIPS_KEY
    assert first["sources"] == {"profile": 2, "note": 1, "conversation": 2}
    assert first["inserted"] == first["totalChunks"] == first["added"] == 5
    answer = api.post(PREFIX + "/memory/search", json={"ruId": "ru-1", "tuId": "tu-9", "query": "trains"}).json()
    assert set(answer) >= {"favoriteId", "dialogKey", "query", "results"}
    assert len(answer["results"]) == 5
    columns = {"id", "source", "text", "weighted_score", "note_date", "sent_at", "direction"}
    assert all(set(row) == columns for row in answer["results"])
    scores = [row["weighted_score"] for row in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_explain_shows_the_parts(api: TestClient) -> None:
    """With `explain` cosine and boost sum to the score, and model, weights and latency are named."""
    api.post(PREFIX + "/memory/ingest", json=BODY)
    answer = api.post(
        PREFIX + "/memory/search",
        json={"ruId": "ru-1", "tuId": "tu-9", "query": "trust", "explain": True, "requestId": "r-1", "limit": 2},
    ).json()
    assert answer["requestId"] == "r-1"
    assert answer["weightsVersion"] == 1
    assert answer["model"] == "test:768"
    assert answer["fallback"] is False
    assert set(answer["latencyMs"]) == {"embed", "database", "score", "total"}
    assert [row["rank"] for row in answer["results"]] == [1, 2]
    for row in answer["results"]:
        assert row["weighted_score"] == pytest.approx(row["cosine"] + row["boost"], abs=1e-12)


def test_ingesting_again_adds_nothing(api: TestClient) -> None:
    """The second ingest reports the same chunks as unchanged."""
    api.post(PREFIX + "/memory/ingest", json=BODY)
    again = api.post(PREFIX + "/memory/ingest", json=BODY).json()
    assert (again["inserted"], again["added"], again["unchanged"], again["reembedded"]) == (5, 0, 5, 0)


def test_no_chunks_is_said(api: TestClient) -> None:
    """A payload without anything to remember answers with the message of the existing service."""
    answer = api.post(PREFIX + "/memory/ingest", json={"ruId": "a", "tuId": "b", "conversationJson": {}}).json()
    assert answer["inserted"] == answer["totalChunks"] == 0
    assert answer["message"] == "No memory chunks were produced from the payload."


@pytest.mark.parametrize(
    ("path", "body", "status", "field"),
    [
        ("/memory/ingest", {"tuId": "b", "conversationJson": {"messages": []}}, 422, "ruId"),
        ("/memory/ingest", {"ruId": "a", "tuId": "b", "conversationJson": "{"}, 400, "conversationJson"),
        ("/memory/search", {"ruId": "a", "tuId": "b"}, 400, "query"),
        ("/memory/search", {"ruId": "a", "tuId": "b", "query": "q", "limit": "many"}, 400, "limit"),
        ("/memory/search", {"query": "q"}, 422, None),
        ("/status", {"ruId": "a"}, 422, "tuId"),
        ("/status", {"ruId": True, "tuId": "b"}, 400, "ruId"),
    ],
)
def test_bad_input_names_the_field(api: TestClient, path: str, body: dict, status: int, field: str | None) -> None:
    """Whatever is missing or unusable is said by its name."""
    answer = api.post(PREFIX + path, json=body)
    assert answer.status_code == status, answer.text
    if field:
        assert answer.json()["error"]["field"] == field


def test_status_reads_an_id_as_ingest_does(api: TestClient) -> None:
    """5, 5.0 and "5" are one id, as a JavaScript caller means them."""
    keys = {api.post(PREFIX + "/status", json={"ruId": ru, "tuId": 6}).json()["dialogKey"] for ru in (5, 5.0, "5")}
    assert len(keys) == 1


def test_status_of_a_pair_and_its_other_order(api: TestClient) -> None:
    """The tips key is read; the other order of the ids is named where it has rows."""
    api.post(PREFIX + "/memory/ingest", json=BODY)
    generic = {k: v for k, v in BODY.items() if k not in ("ruId", "tuId")} | {"clientId": "ru-1", "womanId": "tu-9"}
    api.post(PREFIX + "/memory/ingest", json=generic)
    answer = api.post(PREFIX + "/status", json={"ruId": "ru-1", "tuId": "tu-9"}).json()
    assert answer["counts"] == {"profile": 2, "note": 1, "conversation": 2, "photo": 0, "summary": 0}
    assert answer["lastNoteAt"] == "2026-11-02"
    assert answer["lastMessageAt"].startswith("2026-11-01T10:05:00")
    assert answer["profileUpdatedAt"]
    assert answer["photoUpdatedAt"] is None
    assert answer["alsoUnder"] == "e97d395a22d4be404186ed42a23b188a3ce32f8282374e88bf82da987df8516a"


def test_health_routes(api: TestClient) -> None:
    """Auth and table answer, the count is the table's, and every component has its word."""
    api.post(PREFIX + "/memory/ingest", json=BODY)
    assert api.get(PREFIX + "/supabase/health").json()["ok"] is True
    assert api.get(PREFIX + "/memory/status").json() == {
        "ready": True,
        "table": "client_memory_chunks",
        "totalChunks": 5,
    }
    report = api.get(PREFIX + "/health")
    assert report.status_code == 200
    assert report.json()["status"] in ("ok", "degraded")
    assert all(c["status"] in ("ok", "degraded", "down", "unknown") for c in report.json()["components"])


def test_no_answer_holds_an_embedding(api: TestClient) -> None:
    """Vectors stay in the database."""
    api.post(PREFIX + "/memory/ingest", json=BODY)
    answer = api.post(
        PREFIX + "/memory/search", json={"ruId": "ru-1", "tuId": "tu-9", "query": "trust", "explain": True}
    )
    assert "embedding" not in json.dumps(answer.json()["results"])
