"""Every role by every action, page and route, as the table in docs/access.md says."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from starlette.applications import Starlette
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from core.access import ACTIONS, allowed
from core.api.routes import PREFIX, TABLE, build_routes
from core.bootstrap import Core
from core.companion.contract import ModuleTool, ToolResult
from core.events import run_as
from core.events.actor import ai, user
from pages._shared.sitemap import PLACES
from tests.support.dialogs import body

ROOT = Path(__file__).resolve().parents[2]
FRAME = ROOT / "pages" / "_shared" / "frame.py"
ROLES = ("viewer", "auditor", "tuner", "operator", "owner", "admin")


@cache
def said() -> Mapping[str, frozenset[str]]:
    """The table of the docs: action -> roles that may."""
    text = (ROOT / "docs" / "access.md").read_text(encoding="utf-8")
    head = re.search(r"^\| action \|.*\|$", text, re.MULTILINE)
    assert head and tuple(cell.strip() for cell in head.group().strip("|").split("|"))[2:] == ROLES
    rows = {}
    for line in text[head.end() :].split("\n\n")[0].strip().splitlines()[1:]:
        name, _, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        assert set(cells) <= {"yes", ""}
        rows[name.strip("`")] = frozenset(role for role, cell in zip(ROLES, cells, strict=True) if cell == "yes")
    return rows


def pairs(text: str) -> Iterator[tuple[str, str]]:
    found = (ROOT / "docs" / "access.md").read_text(encoding="utf-8").partition(text)[2].split("\n\n")[0]
    for line in found.strip().splitlines()[1:]:
        name, action = (cell.strip().strip("`") for cell in line.strip("|").split("|"))
        yield name, action


def test_the_table_names_what_there_is() -> None:
    """All actions, all pages, all routes; none that is gone."""
    assert set(said()) == set(ACTIONS)
    assert dict(pairs("| page | action it needs |\n")) == {p.title: p.action for p in PLACES}
    text = "| route below `/stack-ai/tips` | action it needs |\n"
    routes = {f"{method} {path.replace(':path', '')}": action for path, (method, action, _) in TABLE.items()}
    assert dict(pairs(text)) == routes


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("action", sorted(ACTIONS))
def test_core(role: str, action: str) -> None:
    """Allowed exactly where the table says so."""
    assert allowed(user("x", roles=(role,)), action) is (role in said()[action])


@pytest.fixture
def filled(core: Core) -> Core:
    core.ingest.ingest(body(None, ruId="ru-1042", tuId="tu-9001"))
    return core


@pytest.fixture
def open_as(env: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], AppTest]]:
    """A page as the local operator of that role opens it, by a cold deep link."""
    st.cache_data.clear()
    st.cache_resource.clear()

    def opened(role: str, page: str) -> AppTest:
        for name, value in {**env, "MEMORY_DESK_LOCAL_ROLE": role}.items():
            monkeypatch.setenv(name, value)
        at = AppTest.from_file(FRAME, default_timeout=60)
        at.run()
        if page != PLACES[0].name:
            at.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
        return at

    yield opened
    st.cache_data.clear()
    st.cache_resource.clear()


@pytest.mark.parametrize("role", ROLES)
def test_pages(role: str, filled: Core, open_as: Callable[[str, str], AppTest]) -> None:
    """Opened, or refused in calm words that say who may; never an error, never the broken state."""
    for place in PLACES:
        at = open_as(role, place.name)
        assert not at.exception, (role, place.name)
        kinds = (at.header, at.text, at.caption, at.markdown, at.error, at.warning, at.info)
        words = "\n".join(str(element.value) for kind in kinds for element in kind)
        assert "error of its own" not in words and "cannot be shown" not in words, (role, place.name, words[-800:])
        refused = "This page is for those who may" in words
        assert refused is (role not in said()[place.action]), (role, place.name)
        if not refused:
            assert place.title in [h.value for h in at.header], (role, place.name)


BODIES: Mapping[str, Mapping[str, Any]] = {
    "/status": {"ruId": "ru-1042", "tuId": "tu-9001"},
    "/memory/ingest": {},
    "/memory/search": {"ruId": "ru-1042", "tuId": "tu-9001", "query": "trust"},
    "/snapshots": {},
    "/snapshots/cleanup": {},
    "/usage": {},
}


@pytest.mark.parametrize("role", ROLES)
def test_routes(role: str, filled: Core) -> None:
    """A token of one role: 403 exactly where the table says no; whatever else comes is no refusal."""
    token = filled.access_desk.create_token(role, [role])[1]
    client = TestClient(
        Starlette(routes=build_routes(lambda: filled)), client=("127.0.0.1", 5), base_url="http://127.0.0.1"
    )
    for path, (method, action, _) in TABLE.items():
        url = PREFIX + path.replace("{requestId:path}", "r-1").replace("{dialogKey:path}", "k-1")
        answer = client.request(
            method,
            url,
            json=BODIES.get(path) if method == "POST" else None,
            headers={"Authorization": f"Bearer {token}"},
        )
        assert (answer.status_code == 403) is (role not in said()[action]), (role, path, answer.text)
        assert (
            answer.status_code != 401 and "application/json" in answer.headers["content-type"]
        ) or path == "/metrics"


@pytest.mark.parametrize("role", ROLES)
def test_tools_of_an_assistant(role: str, filled: Core) -> None:
    """Over MCP or in the chat a tool runs only where whoever is behind it may do all that the tool does."""
    act = filled.companion.act
    actor = ai("mcp:x", "X", mission_id="m", iteration_id="i", rationale="r", roles=(role,))
    run: list[str] = []
    for tool in act.toolbox.all():
        missing = [action for action in tool.actions if role not in said()[action]]
        probe = _probe(tool, run)
        with run_as(actor):
            result = act.executor.run(probe, {}, actor)
        assert result.success is (not missing), (role, tool.name, missing, result.message)
        assert (tool.name in run) is (not missing)


def _probe(tool: ModuleTool, run: list[str]) -> ModuleTool:
    """The same tool, which asks for nothing by itself and only notes that it ran."""

    def execute(_: Mapping[str, Any]) -> ToolResult:
        run.append(tool.name)
        return ToolResult(True, "ok")

    return replace(tool, execute=execute)
