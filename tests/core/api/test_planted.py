"""Planted text in the API: data in a JSON answer, character for character, that no browser takes for a page."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.api.web import Shield, Site
from core.bootstrap import Core
from tests.support import planted


@pytest.fixture
def api(core: Core) -> Iterator[TestClient]:
    planted.plant(core)
    site = Site(names=frozenset({"127.0.0.1"}))
    app = Starlette(routes=build_routes(lambda: core), middleware=[Middleware(Shield, get_site=lambda: site)])
    with TestClient(app, client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501") as desk:
        yield desk


def test_planted_text_is_data_in_every_answer(api: TestClient) -> None:
    """Search with its prompt block, records, usage and metrics."""
    search = {"ruId": planted.RU, "tuId": planted.TU, "query": planted.LONG}
    answers = {
        "search": api.post(f"{PREFIX}/memory/search", json=search),
        "record": api.get(f"{PREFIX}/memory/retrievals/{planted.REQUEST}"),
        "usage": api.get(f"{PREFIX}/usage/dialog/{planted.KEY}"),
        "summary": api.get(f"{PREFIX}/usage/summary?groupBy=model"),
    }
    for name, answer in answers.items():
        assert answer.status_code == 200, (name, answer.text)
        assert answer.headers["content-type"] == "application/json", name
        assert answer.headers["x-content-type-options"] == "nosniff", name
        assert "sandbox" in answer.headers["content-security-policy"], name
    hits = [row["text"] for row in answers["search"].json()["results"]]
    whole = f"[{planted.MARK}](javascript:planted()) ![{planted.MARK}](https://evil.example/p.png)"
    assert any(whole in text for text in hits)
    block = answers["record"].json()["retrievals"][0]["promptBlock"]
    assert "<script>planted()</script>" in block
    assert planted.SHORT in json.dumps(answers["summary"].json())


def test_planted_text_stays_inside_its_label(api: TestClient) -> None:
    """Prometheus' own text form has no HTML, and one line a figure whatever a model is called."""
    answer = api.get(f"{PREFIX}/metrics")
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    lines = [line for line in answer.text.splitlines() if planted.MARK in line]
    assert lines
    assert all(line.startswith("memory_desk_tokens_today_") and float(line.rpartition(" ")[2]) > 0 for line in lines)


def test_an_error_repeats_nothing_that_a_page_could_run(api: TestClient) -> None:
    """Also where the fault is in the text itself."""
    answer = api.post(f"{PREFIX}/usage", json={"requestId": planted.SHORT})
    assert answer.status_code == 400
    assert planted.MARK not in answer.text
