"""Tools and views as the protocol's own client sees them: what is offered, run, proposed, refused, and never told."""

from __future__ import annotations

import json
import re
from typing import Any

import anyio
import pytest
from mcp import Client, MCPError

from core.bootstrap import Core
from core.companion.act.policy import PolicySet
from core.companion.contract import ModuleTool, Parameter, ToolResult
from core.mcp.offer import PROPOSES
from core.mcp.sessions import RATIONALE
from core.memory.keys import tips_key
from tests.support.assistant import META, asked, assistant, post, text_of
from tests.support.dialogs import body

SECRET = "Zirconium whispers about the orchard"
KEY = tips_key("ru-4711", "tu-0815")
ALIAS = re.compile(r"dialog-[0-9a-f]{6}")
MODES = ("auto", "legacy")


@pytest.mark.parametrize("mode", MODES)
def test_what_is_offered(core: Core, url: str, mode: str) -> None:
    """Every tool but the denied ones, with its schema, whether it only reads, and whether it is only proposed."""
    found = asked(url, lambda c: c.list_tools(), mode=mode).tools
    by_name = {tool.name: tool for tool in found}
    policies = core.companion.act.policies.current()
    wanted = {t.name for t in core.companion.act.toolbox.all() if policies.decide(t) != "deny"}
    assert set(by_name) == wanted and "apply_migration" not in wanted and len(wanted) > 30
    assert by_name["search_memory"].annotations.read_only_hint
    assert not by_name["create_task"].annotations.read_only_hint
    assert PROPOSES in by_name["create_task"].description and PROPOSES not in by_name["search_memory"].description
    schema = by_name["search_memory"].input_schema
    assert schema["required"] == ["dialog_key", "query"] and schema["additionalProperties"] is False


@pytest.mark.parametrize("mode", MODES)
def test_views(core: Core, url: str, mode: str) -> None:
    """Memory, usage and health can be read without arguments; another address is refused with those there are."""

    async def look(client: Client) -> dict[str, Any]:
        shown = (await client.list_resources()).resources
        return {r.name: json.loads((await client.read_resource(r.uri)).contents[0].text) for r in shown}

    core.ingest.ingest(body(KEY))
    found = asked(url, look, mode=mode)
    assert set(found) == {"memory", "usage", "health"}
    assert found["memory"]["data"]["dialogs"] == 1 and "groups" in found["usage"]["data"]
    assert found["health"]["data"]["components"]["database"] == "ok"
    with pytest.raises(MCPError, match="memory-desk://memory"):
        asked(url, lambda c: c.read_resource("memory-desk://chunks"), mode=mode)


def test_a_proposal_and_nothing_else(core: Core, url: str) -> None:
    """What has to be approved is staged, once for the same call, says so, and has not run; the actor says who."""

    async def twice(client: Client) -> list[Any]:
        return [await client.call_tool("create_task", {"title": "Water the plants"}) for _ in range(2)]

    first, second = asked(url, twice, name="Claude Desktop")
    assert not first.is_error and "has not run" in text_of(first)
    assert json.loads(text_of(first))["data"]["new"] and not json.loads(text_of(second))["data"]["new"]
    (waiting,) = core.companion.act.proposals.list().rows
    assert (waiting.tool_name, waiting.params["title"]) == ("create_task", "Water the plants")
    assert (waiting.actor.principal_id, waiting.actor.rationale) == ("mcp:Claude-Desktop", RATIONALE)
    assert waiting.mission_id.startswith("mcp:") and waiting.iteration_id.startswith("call-")
    assert not core.companion.records.tasks.list("all").rows
    assert core.companion.act.proposals.approve(waiting.id).succeeded
    assert len(core.companion.records.tasks.list("all").rows) == 1


def test_a_change_waits_also_where_policy_lets_an_ai_make_it(core: Core, url: str) -> None:
    """From outside nothing is applied; once approved, its event names the client and the session."""
    answer = asked(url, lambda c: c.call_tool("log_drink", {"drink_type": "tea", "quantity_ml": 200}))
    assert not answer.is_error and "has not run" in text_of(answer)
    assert core.events.flush() and not core.events.store.query(type="DrinkLogged").rows
    (waiting,) = core.companion.act.proposals.list().rows
    assert core.companion.act.proposals.approve(waiting.id).succeeded and core.events.flush()
    (row,) = core.events.store.query(type="DrinkLogged").rows
    assert (row.actor.kind, row.actor.principal_id) == ("ai", "mcp:helper") and row.actor.mission_id[:4] == "mcp:"


def test_denied(core: Core, url: str) -> None:
    """Absent from the list and refused by name, by default and once the operator says so of a tool or a view's."""
    restore = core.companion.act.policies.set_policy(PolicySet(tools={"create_task": "deny", "memory_status": "deny"}))
    try:
        assert not {"create_task", "memory_status", "apply_migration"} & {
            tool.name for tool in asked(url, lambda c: c.list_tools()).tools
        }
        for name, params in (("create_task", {"title": "t"}), ("apply_migration", {"name": "x"})):
            answer = asked(url, lambda c, n=name, p=params: c.call_tool(n, p))
            assert answer.is_error and "not for an AI" in text_of(answer)
        assert "memory" not in {r.name for r in asked(url, lambda c: c.list_resources()).resources}
        with pytest.raises(MCPError):
            asked(url, lambda c: c.read_resource("memory-desk://memory"))
    finally:
        restore()
    assert core.companion.act.proposals.list(None).total == 0


def test_nothing_sensitive_is_told(core: Core, url: str) -> None:
    """Over planted data: no text, no key, no id of a person, no meal in the answer of any tool that reads."""
    core.ingest.ingest(body(KEY, notes=[SECRET], ruId="ru-4711", tuId="tu-0815"))
    core.snapshots.capture_ingest(body(KEY, notes=[SECRET], ruId="ru-4711", tuId="tu-0815"))
    core.companion.records.tasks.create(f"Ask ru-4711 of {KEY}")
    core.companion.records.meals.log(meal_type="lunch", description=SECRET)
    arguments = {
        "dialog_key": KEY, "query": "orchard", "ru_id": "ru-4711", "tu_id": "tu-0815", "model": "gemini-2.5-flash",
        "tokens": 1000, "date": "2026-11-30", "from": "2026-11-29", "to": "2026-11-30", "title": "x",
    }  # fmt: skip

    async def all_reads(client: Client) -> dict[str, str]:
        found = {}
        for tool in (await client.list_tools()).tools:
            if tool.annotations.read_only_hint:
                names = tool.input_schema["properties"]
                given = {name: arguments[name] for name in names if name in arguments}
                found[tool.name] = text_of(await client.call_tool(tool.name, given))
        return found

    found = asked(url, all_reads)
    assert len(found) > 15 and json.loads(found["search_memory"])["data"], found["search_memory"]
    for name, text in found.items():
        for word in ("Zirconium", "orchard", KEY, "ru-4711", "tu-0815", "Taras", "example.org"):
            assert word not in text, name


def test_names_of_dialogs_are_of_the_session(core: Core, url: str) -> None:
    """A name from an answer is taken back as an argument; in another session it names nothing, and that is said."""
    got: list[Any] = []

    def execute(params: Any) -> ToolResult:
        got.append(params.get("dialog_key"))
        return ToolResult(True, f"This is {KEY}.", {"text": SECRET}, {"dialog_key": KEY, KEY: 1})

    core.companion.act.toolbox.register(
        ModuleTool("point_at", "memory", "Point", "Points.", execute, "status", "auto", "personal",
                   (Parameter("dialog_key", "string", "Which."),), read_only=True)
    )  # fmt: skip

    async def run() -> None:
        async with assistant(url, "one", mode="legacy") as one, assistant(url, "one", mode="legacy") as two:
            said = text_of(await one.call_tool("point_at", {}))
            (name,) = set(ALIAS.findall(said))
            assert KEY not in said and SECRET not in said and said.count(name) == 3
            await one.call_tool("point_at", {"dialog_key": name})
            strange = await two.call_tool("point_at", {"dialog_key": name})
            assert strange.is_error and f"{name} names no dialog" in text_of(strange)
            assert name not in text_of(await two.call_tool("point_at", {}))

    anyio.run(run)
    assert got == [None, KEY, None]


@pytest.mark.parametrize("wrong", ['{"drink_type": "tea"}', ["tea"], 5, True])
def test_arguments_that_are_no_object(core: Core, url: str, wrong: Any) -> None:
    """The call is refused in words that say what to send; nothing ran, and another client is served."""
    params = {"name": "log_drink", "arguments": wrong, "_meta": META}
    answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    result = answer.json()["result"]
    assert answer.status_code == 200 and result["isError"]
    assert "JSON object" in result["content"][0]["text"] and "quantity_ml" in result["content"][0]["text"]
    assert not asked(url, lambda c: c.call_tool("memory_status", {})).is_error
    assert not core.companion.records.drinks.list(core.clock.now().date())


def test_wrong_calls_say_how_to_do_better(core: Core, url: str) -> None:
    """Missing arguments, an unknown tool, wrong types and values out of range: each named, each harmless."""
    cases: tuple[tuple[str, Any, str], ...] = (
        ("log_drink", None, "drink_type is missing"),
        ("log_drink", {"drink_type": "tea", "quantity_ml": "much"}, "quantity_ml is no number"),
        ("log_drink", {"drink_type": "lava", "quantity_ml": 2}, "Known: "),
        ("log_drink", {"drink_type": "tea", "quantity_ml": 2, "colour": 1}, "takes no colour"),
        ("log_drinks", {}, "log_drink"),
        ("search_memory", {"dialog_key": KEY, "query": "x", "limit": 10_000}, "limit is more than"),
    )

    async def all_of(client: Client) -> list[Any]:
        return [await client.call_tool(name, given) for name, given, _ in cases]

    for found, (name, _, wanted) in zip(asked(url, all_of), cases, strict=True):
        assert found.is_error and wanted in text_of(found), (name, text_of(found))


def test_a_body_that_is_none(url: str) -> None:
    """No JSON, a batch, a name that is no text: an error for that one, and the next one is served."""
    for params in ({"name": 5, "_meta": META}, {"_meta": META}):
        answer = post(url, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, {"mcp-name": "x"})
        assert "error" in answer.json() or answer.json()["result"]["isError"]
    assert post(url, {"nonsense": True}).status_code in (202, 400)
    assert not asked(url, lambda c: c.call_tool("memory_status", {})).is_error


def test_two_clients_at_once(core: Core, url: str) -> None:
    """Forty calls of two clients, one of them sending nonsense: each gets its own answers."""
    core.ingest.ingest(body(KEY))

    async def run() -> None:
        async with assistant(url, "good") as good, assistant(url, "bad", mode="legacy") as bad:
            right: list[Any] = []
            wrong: list[Any] = []

            async def one(into: list[Any], client: Client, name: str, given: dict[str, Any]) -> None:
                into.append(await client.call_tool(name, given))

            async with anyio.create_task_group() as group:
                for _ in range(20):
                    group.start_soon(one, right, good, "search_memory", {"dialog_key": KEY, "query": "chess"})
                    group.start_soon(one, wrong, bad, "search_memory", {"dialog_key": KEY})
            assert len(right) == len(wrong) == 20
            assert not any(r.is_error for r in right) and all("query is missing" in text_of(r) for r in wrong)

    anyio.run(run)


def test_a_long_answer_is_cut_and_says_so(core: Core, url: str) -> None:
    """No answer is longer than its limit by more than the words that say that it was cut."""
    for n in range(100):
        core.companion.records.tasks.create(f"Sort the shelf number {n} of the long corridor")
    found = asked(url, lambda c: c.call_tool("list_tasks", {"limit": 100}))
    assert "was cut" in text_of(found) and len(text_of(found)) < 6_300


def test_an_unforeseen_error_quotes_nothing(core: Core, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bug in our own code is an error without its message; the next call works."""

    def broken(*_: Any) -> Any:
        raise RuntimeError(SECRET)

    with monkeypatch.context() as patch, pytest.raises(MCPError) as met:
        patch.setattr("core.mcp.server.answer", broken)
        asked(url, lambda c: c.call_tool("memory_status", {}))
    assert "Zirconium" not in str(met.value)
    assert not asked(url, lambda c: c.call_tool("memory_status", {})).is_error
