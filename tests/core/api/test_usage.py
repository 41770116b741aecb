"""The usage routes end to end: shapes, odd keys, money as text, errors that name the field."""

from __future__ import annotations

import json
import socket
import threading
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from urllib.parse import quote

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.bootstrap import Core
from core.memory.keys import tips_key
from tests.support.dialogs import ODD_KEY

REQUEST = "6f1c2a7e-0000-4000-8000-000000000001"
ENTRIES = [
    {
        "provider": "gemini",
        "model": "m-a",
        "phase": "embed",
        "promptTokens": 10,
        "completionTokens": 0,
        "totalTokens": 10,
    },
    {
        "provider": "xai",
        "model": "m-b",
        "phase": "generate",
        "promptTokens": 5,
        "completionTokens": 5,
        "totalTokens": 10,
    }
    | {"cachedTokens": 2, "at": "2026-11-29T10:00:00Z"},
]


@pytest.fixture
def api(core: Core) -> Iterator[TestClient]:
    with TestClient(
        Starlette(routes=build_routes(lambda: core)), client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501"
    ) as desk:
        yield desk


def test_record_and_read_back(api: TestClient) -> None:
    """Written, then there already; the entry without `at` is in today's sums (case 8)."""
    body = {"requestId": REQUEST, "ruId": "ru-1", "tuId": "tu-9", "entries": ENTRIES}
    assert api.post(PREFIX + "/usage", json=body).json() == {"written": 2, "present": 0, "spooled": 0, "estimated": 0}
    assert api.post(PREFIX + "/usage", json=body).json() == {"written": 0, "present": 2, "spooled": 0, "estimated": 0}
    key = tips_key("ru-1", "tu-9")
    sums = {"calls": 2, "prompt": 15, "completion": 5, "total": 20}
    assert api.get(f"{PREFIX}/usage/dialog/{key}").json() == sums
    today = datetime.now(UTC).date().isoformat()
    answer = api.get(f"{PREFIX}/usage/summary", params={"from": today, "groupBy": "day,model"}).json()
    assert [row for row in answer["rows"] if row["model"] == "m-a"] == [
        {
            "day": today,
            "model": "m-a",
            "calls": 1,
            "prompt": 10,
            "completion": 0,
            "total": 10,
            "cached": 0,
            "unattributed": 0,
            "costUsd": None,
            "costIsLowerBound": True,
            "unpricedTokens": 10,
        }
    ]
    assert answer["timeZone"] == "UTC"


def test_estimated(api: TestClient) -> None:
    """Without entries one row, counted from the texts."""
    answer = api.post(PREFIX + "/usage", json={"requestId": REQUEST, "dialogKey": "d", "promptText": "hello"})
    assert answer.json() == {"written": 1, "present": 0, "spooled": 0, "estimated": 1}
    assert api.get(PREFIX + "/usage/dialog/d").json()["total"] == 2


@pytest.fixture
def served(core: Core) -> Iterator[str]:
    """A real server: the test client decodes a path twice, which no server does."""
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=build_routes(lambda: core)), log_level="error"))
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as door:
        door.bind(("127.0.0.1", 0))
        door.listen()  # a call that comes before the server is up waits for it
        thread = threading.Thread(target=server.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{door.getsockname()[1]}{PREFIX}"
        server.should_exit = True
        thread.join(10)


@pytest.mark.parametrize("key", [ODD_KEY, "a/b", "100%", "%2F", "a b+c", "ü?#", "x/", "summary"])
def test_odd_keys(core: Core, served: str, key: str) -> None:
    """A key that is percent-encoded once is found, and only it."""
    for n, name in enumerate((key, "other")):
        core.usage.record({"requestId": REQUEST[:-1] + str(n), "dialogKey": name, "entries": ENTRIES[: n + 1]})
    with urllib.request.urlopen(f"{served}/usage/dialog/{quote(key, safe='')}", timeout=10) as answer:
        assert json.load(answer)["calls"] == 1


def test_since_is_inclusive(api: TestClient) -> None:
    """`at >= since`; a plus sign that was not encoded still names the zone."""
    api.post(PREFIX + "/usage", json={"requestId": REQUEST, "dialogKey": "d", "entries": ENTRIES[1:]})
    for since, calls in (("2026-11-29T10:00:00Z", 1), ("2026-11-29T12:00:00+02:00", 1), ("2026-11-29T10:00:01Z", 0)):
        assert api.get(f"{PREFIX}/usage/dialog/d?since={since}").json()["calls"] == calls


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/usage/summary?groupBy=colour", "groupBy"),
        ("/usage/summary?from=soon", "from"),
        ("/usage/summary?from=2026-11-02&to=2026-11-01", "to"),
        ("/usage/dialog/d?since=soon", "since"),
    ],
)
def test_errors_name_the_field(api: TestClient, path: str, field: str) -> None:
    """400 with the field."""
    answer = api.get(PREFIX + path)
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, field)


def test_a_bad_entry_writes_nothing(api: TestClient) -> None:
    """400 naming the entry, and the good one beside it is not written."""
    entries = [*ENTRIES, {"promptTokens": -1}]
    answer = api.post(PREFIX + "/usage", json={"requestId": REQUEST, "dialogKey": "d", "entries": entries})
    assert (answer.status_code, answer.json()["error"]["field"]) == (400, "entries[2].promptTokens")
    assert api.get(PREFIX + "/usage/dialog/d").json()["calls"] == 0


@pytest.mark.parametrize("wrong", ["\ud800", "a\u0000b", True, [1]])
def test_ids_that_cannot_be_one_are_named(api: TestClient, wrong: object) -> None:
    """Half a surrogate pair, NUL or another type in an id is 400 naming it, as in an ingest."""
    answer = api.post(
        PREFIX + "/usage",
        content=json.dumps({"requestId": "6f1c1c62-0e35-4b53-9d39-0a3f5f8f2a11", "ruId": wrong, "tuId": "b"}),
        headers={"Content-Type": "application/json"},
    )
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["field"] == "ruId"
