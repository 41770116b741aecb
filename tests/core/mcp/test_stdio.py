"""Standard input and output: a cold start beside the answers, and no line on standard output but the protocol's."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters

from tests.support.application import ROOT, clean_environment
from tests.support.assistant import text_of

# As `python -m core mcp`, with everything that is known to print where it should not.
NOISY = """
import os, subprocess, sys, warnings
import core.mcp.stdio as stdio
build = stdio.build_core
def noisy(*args, **more):
    print("a stray line", flush=True)
    os.write(1, b"a line past Python\\n")
    subprocess.run([sys.executable, "-c", "print('a line of a child')"])
    warnings.warn("a warning at start")
    return build(*args, **more)
stdio.build_core = noisy
sys.exit(stdio.serve())
"""


class Pipe:
    """A server of its own process, spoken to line by line; every line it sends is parsed."""

    def __init__(self, command: list[str], env: Mapping[str, str], errors: Path) -> None:
        self.errors = errors
        self.said: list[dict[str, Any]] = []
        with errors.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *command], cwd=ROOT, env=clean_environment() | dict(env),
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            )  # fmt: skip

    def send(self, line: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def ask(self, id: int, method: str, params: Any = None) -> dict[str, Any]:
        """The answer to this request; others that come before are kept in `said`."""
        message = {"jsonrpc": "2.0", "id": id, "method": method}
        self.send(json.dumps(message if params is None else {**message, "params": params}))
        while (found := self.read()).get("id") != id:
            pass
        return found

    def read(self) -> dict[str, Any]:
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert line, self.errors.read_text(errors="replace")[-3000:]
        found = json.loads(line)
        assert found["jsonrpc"] == "2.0"
        self.said.append(found)
        return found

    def hello(self) -> dict[str, Any]:
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "pipe", "version": "1"}}
        answer = self.ask(0, "initialize", info)
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        return answer

    def end(self) -> int:
        """Close its input, as a client does; everything that still comes has to be the protocol's."""
        rest, _ = self.process.communicate(timeout=60)
        for line in rest.splitlines():
            assert json.loads(line)["jsonrpc"] == "2.0"
        return self.process.returncode


@pytest.fixture
def cold(data_dir: Path) -> dict[str, str]:
    """Settings of a machine on which nothing has run yet: embedded database, local embedder."""
    return {
        "MEMORY_DESK_DATABASE": "embedded",
        "MEMORY_DESK_DATA_DIR": str(data_dir),
        "MEMORY_DESK_EMBEDDER": "local",
        "MEMORY_DESK_DEMO": "off",
    }


@pytest.fixture
def pipe(cold: Mapping[str, str], tmp_path: Path) -> Iterator[Pipe]:
    made = Pipe(["-W", "always", "-c", NOISY], cold, tmp_path / "stderr.txt")
    yield made
    made.process.kill()
    made.process.wait()


def test_a_cold_start(pipe: Pipe) -> None:
    """Answered before the database is there; then calls with the local embedder; strays and warnings on stderr."""
    assert pipe.hello()["result"]["serverInfo"]["name"] == "memory-desk"
    assert len(pipe.ask(1, "tools/list")["result"]["tools"]) > 30
    status = call(pipe, 2, "memory_status", {})
    assert json.loads(status["content"][0]["text"])["data"]["chunks"] == 0
    assert not call(pipe, 3, "search_memory", {"dialog_key": "k", "query": "chess"})["isError"]
    # Each bad call has an answer, and the good one after it too.
    for id, wrong in enumerate(('{"a": 1}', ["a"], 7), start=4):
        answer = call(pipe, id, "memory_status", wrong)
        assert answer["isError"] and "JSON object" in answer["content"][0]["text"]
    assert not call(pipe, 8, "memory_status")["isError"]
    for line in ("", "{", "[]", '"text"', '{"jsonrpc": "2.0"}', '{"jsonrpc": "2.0", "id": 9, "method": 5}'):
        pipe.send(line)
    assert not call(pipe, 10, "memory_status", {})["isError"]
    assert pipe.end() == 0
    stderr = pipe.errors.read_text(errors="replace")
    for line in ("a stray line", "a line past Python", "a line of a child", "a warning at start"):
        assert line in stderr


def test_the_protocol_s_own_client(env: Mapping[str, str], endpoint: object) -> None:
    """`python -m core mcp` as an assistant starts it: tools, a proposal, a view."""
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "core", "mcp"], cwd=ROOT, env={**clean_environment(), **env}
    )

    async def run() -> None:
        info = types.Implementation(name="desk helper", version="1")
        async with Client(command, client_info=info) as client:
            assert client.instructions and "never the text" in client.instructions
            assert len((await client.list_tools()).tools) > 30
            staged = await client.call_tool("create_task", {"title": "Water the plants"})
            assert "has not run" in text_of(staged)
            assert (await client.read_resource("memory-desk://usage")).contents

    anyio.run(run)


def test_asked_to_end(pipe: Pipe) -> None:
    """SIGTERM closes the core and the process, although it waits for input."""
    pipe.hello()
    call(pipe, 1, "memory_status", {})
    pipe.process.send_signal(signal.SIGTERM)
    assert pipe.process.wait(30) == 0


def test_a_configuration_that_cannot_work(tmp_path: Path) -> None:
    """Exit code 1, the problem on stderr, nothing on stdout."""
    env = {**clean_environment(), "MEMORY_DESK_DATABASE": "hosted", "MEMORY_DESK_DATA_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", "core", "mcp"], cwd=ROOT, env=env, capture_output=True, timeout=120)
    assert done.returncode == 1 and done.stdout == b"" and b"SUPABASE" in done.stderr


def test_a_database_that_cannot_be_had(tmp_path: Path) -> None:
    """Every call is answered with what is broken, and the client stays connected."""
    env = {
        "MEMORY_DESK_DATABASE": "hosted",
        "SUPABASE_URL": "http://127.0.0.1:9",
        "SUPABASE_SERVICE_ROLE_KEY": "k" * 40,
        "MEMORY_DESK_DATA_DIR": str(tmp_path),
        "MEMORY_DESK_EMBEDDER": "local",
        "MEMORY_DESK_DB_TIMEOUT_S": "1",
    }
    made = Pipe(["-m", "core", "mcp"], env, tmp_path / "stderr.txt")
    made.hello()
    assert "error" in made.ask(1, "tools/list")
    answer = call(made, 2, "memory_status", {})
    assert answer["isError"] and "withheld" not in answer["content"][0]["text"]
    assert "database" in answer["content"][0]["text"].lower()
    assert made.end() == 0


def call(pipe: Pipe, id: int, name: str, arguments: Any = None) -> dict[str, Any]:
    params = {"name": name} if arguments is None else {"name": name, "arguments": arguments}
    result: dict[str, Any] = pipe.ask(id, "tools/call", params)["result"]
    return result
