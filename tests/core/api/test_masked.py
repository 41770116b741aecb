"""Answers of the API are masked, unless the token says why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from core.api import PREFIX, build_routes
from core.bootstrap import Core
from core.config import read_settings
from core.errors import DatabaseUnavailable
from tests.support.people import DAYS, KEY, PERSONAL, QUERY, remember

SECRET = "a-token-of-the-environment"
REQUEST = "6f1c2a7e-0000-4000-8000-000000000001"


@pytest.fixture
def people(core: Core, dsn: str) -> Core:
    remember(core, dsn)
    return core


def client(core: Core, **env: str) -> TestClient:
    settings = read_settings({"MEMORY_DESK_DATA_DIR": str(core.settings.data_dir), **env})
    routes = build_routes(lambda: replace(core, settings=settings))
    return TestClient(Starlette(routes=routes), client=("127.0.0.1", 1), base_url="http://127.0.0.1:8501")


def answers(api: TestClient, token: str | None = None) -> dict[str, Any]:
    """The three that hold texts: a search, what it returned and finds today, two days of snapshots."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    asked = {"dialogKey": KEY, "query": QUERY, "requestId": REQUEST, "explain": True, "limit": 24}
    found = {
        "search": api.post(f"{PREFIX}/memory/search", json=asked, headers=headers),
        "retrievals": api.get(f"{PREFIX}/memory/retrievals/{REQUEST}?replay=true", headers=headers),
        "diff": api.get(f"{PREFIX}/snapshots/diff?dialogKey={KEY}&from={DAYS[0]}&to={DAYS[1]}", headers=headers),
    }
    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(found, 200)
    return found


def is_masked(found: dict[str, Any]) -> bool:
    """All of them or none; said in the body."""
    seen = {name: [w for w in PERSONAL if w in answer.text.replace(QUERY, "")] for name, answer in found.items()}
    said = {answer.json().get("masked", False) for answer in found.values()}
    assert len(said) == 1
    assert said == {True} or all(seen.values())
    assert said == {False} or not any(seen.values()), seen
    return said == {True}


@pytest.mark.parametrize("role", ["viewer", "auditor", "tuner", "operator", "admin"])
def test_a_token_is_answered_masked(people: Core, role: str) -> None:
    """Whatever its role, also one that could reveal; the query that it sent is its own."""
    _, secret = people.access_desk.create_token("Reader", [role])
    found = answers(client(people), secret)
    assert is_masked(found)
    assert found["search"].json()["query"] == QUERY
    assert found["retrievals"].json()["retrievals"][0]["query"] == "чи пише [name] про чай"


def test_a_token_with_a_reason_is_answered_unmasked(people: Core) -> None:
    """Said when the token was made; the bodies are those of the existing service."""
    _, secret = people.access_desk.create_token("Writer", ["auditor"], reveal_reason="writes the replies")
    found = answers(client(people), secret)
    assert not is_masked(found)
    assert "masked" not in found["search"].json()


def test_the_token_of_the_environment_is_answered_unmasked(people: Core) -> None:
    """The one with which the existing service is called."""
    assert not is_masked(answers(client(people, MEMORY_DESK_API_TOKEN=SECRET), SECRET))


@pytest.mark.parametrize(("role", "masked"), [("viewer", True), ("tuner,operator", True), ("auditor", False)])
def test_without_a_token_the_local_role_decides(people: Core, role: str, masked: bool) -> None:
    """From this machine alone."""
    assert is_masked(answers(client(people, MEMORY_DESK_LOCAL_ROLE=role))) is masked


def test_a_replay_asks_what_was_asked(people: Core) -> None:
    """Not its masked form: the same chunks come back at the same places."""
    _, secret = people.access_desk.create_token("Reader", ["viewer"])
    body = answers(client(people), secret)["retrievals"].json()
    assert body["replayed"]["drift"]
    assert {tuple(row["changes"]) for row in body["replayed"]["drift"]} == {("same",)}


def test_a_changed_name_stays_a_change(people: Core) -> None:
    """Whoever reads the diff learns that it changed, and not to what."""
    _, secret = people.access_desk.create_token("Reader", ["viewer"])
    changed = answers(client(people), secret)["diff"].json()["changed"]
    (profile,) = [row for row in changed if row["entityType"] == "profile"]
    assert {(f["path"], f["value"]) for f in profile["fields"]} == {("/about", "[name] і чай"), ("/name", "[name]")}


def test_an_unmasked_answer_is_on_record(people: Core) -> None:
    """Who, whose and why, before it is given; once a day for each program and dialog. A masked one leaves none."""
    people.access_desk.create_token("Reader", ["auditor"])
    _, masked = people.access_desk.create_token("Masked", ["auditor"])
    _, secret = people.access_desk.create_token("Writer", ["auditor"], reveal_reason="writes the replies to Олена")
    api = client(people)
    answers(api, masked)
    for _ in range(2):
        answers(api, secret)
    assert people.events.flush()
    (row,) = people.events.store.find(type="PersonalDataRevealed").rows
    assert row.payload["page"] == "api" and row.payload["dialog_key"] == KEY
    assert row.payload["reason"] == "writes the replies to [name]"
    assert row.actor.display_name == "Writer"


def test_nothing_is_given_where_it_cannot_be_recorded(people: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is the database's error, without a text."""
    _, secret = people.access_desk.create_token("Writer", ["auditor"], reveal_reason="writes the replies")

    def down(_: object) -> None:
        raise DatabaseUnavailable("The database does not answer.")

    monkeypatch.setattr(people.events.store, "append", down)
    asked = {"dialogKey": KEY, "query": QUERY}
    answer = client(people).post(f"{PREFIX}/memory/search", json=asked, headers={"Authorization": f"Bearer {secret}"})
    assert answer.status_code == 503
    assert not [word for word in PERSONAL if word in answer.text.replace(QUERY, "")]
