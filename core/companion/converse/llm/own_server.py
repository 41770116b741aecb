"""Tier 2: a server of the operator's own that speaks the Ollama API (`/api/chat`, lines of JSON)."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import httpx

from core.companion.converse.llm.contract import Answer, Message, OnText, Request, ToolCall, Unavailable
from core.companion.converse.llm.fenced import call_in, instruction

CONNECT_S = 2.0
HEALTH_KEPT_S = 15.0


class OwnServer:
    """Thread-safe. Models without function calling get the tools as text, which is found out at the first refusal."""

    def __init__(self, base_url: str, model: str) -> None:
        self.model = model
        self._client = httpx.Client(base_url=base_url.rstrip("/"), trust_env=False, follow_redirects=False)
        self._lock = threading.Lock()
        self._health: tuple[float, str | None] | None = None
        self._plain = False

    def healthy(self) -> str | None:
        with self._lock:
            if self._health and time.monotonic() - self._health[0] < HEALTH_KEPT_S:
                return self._health[1]
        found = self._look()
        with self._lock:
            self._health = (time.monotonic(), found)
        return found

    def answer(self, request: Request, on_text: OnText | None = None) -> Answer:
        try:
            if request.tools and not self._plain:
                try:
                    return self._ask(request, on_text)
                except _NoFunctions:
                    self._plain = True
            return self._fenced(request) if request.tools else self._ask(request, on_text)
        except Unavailable:
            with self._lock:
                self._health = None
            raise

    def close(self) -> None:
        self._client.close()

    def _fenced(self, request: Request) -> Answer:
        told = Message("system", instruction(request.tools))
        answer = self._ask(replace(request, tools=(), messages=(told, *request.messages)), None)
        call = call_in(answer.text)
        return answer if call is None else replace(answer, text="", calls=(call,))

    def _ask(self, request: Request, on_text: OnText | None) -> Answer:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [_message(m) for m in request.messages],
            "stream": True,
            "options": {"temperature": request.temperature, "num_predict": request.max_tokens},
        }
        if request.tools:
            body["tools"] = list(request.tools)
        text: list[str] = []
        calls: list[ToolCall] = []
        counted = (0, 0)
        finished = False
        for line in self._lines(body, request.timeout_s, bool(request.tools)):
            message = line.get("message")
            message = message if isinstance(message, Mapping) else {}
            piece = message.get("content")
            if isinstance(piece, str) and piece:
                text.append(piece)
                if on_text:
                    on_text(piece)
            calls += _calls(message, len(calls))
            if line.get("done"):
                finished = True
                counted = (_count(line.get("prompt_eval_count")), _count(line.get("eval_count")))
        if not finished:
            raise Unavailable("The own server broke off in the middle of its answer.")
        return Answer("".join(text), tuple(calls), *counted)

    def _lines(self, body: Mapping[str, Any], timeout_s: float, with_tools: bool) -> Iterator[Mapping[str, Any]]:
        until = time.monotonic() + timeout_s
        timeout = httpx.Timeout(timeout_s, connect=CONNECT_S)
        try:
            with self._client.stream("POST", "/api/chat", json=body, timeout=timeout) as response:
                if response.status_code != 200:
                    refused = response.read().decode("utf-8", "replace").lower()
                    if with_tools and response.status_code == 400 and "does not support tools" in refused:
                        raise _NoFunctions
                    raise Unavailable(_refusal(response.status_code, self.model))
                for raw in response.iter_lines():
                    if time.monotonic() > until:
                        raise Unavailable(f"The own server gave no whole answer within {timeout_s:g} s.")
                    line = json.loads(raw) if raw.strip() else {}
                    if not isinstance(line, dict):
                        raise ValueError
                    if "error" in line:
                        raise Unavailable("The own server broke off with an error of its own.")
                    yield line
        except httpx.TimeoutException:
            raise Unavailable(f"The own server gave no answer within {timeout_s:g} s.") from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise Unavailable("The own server cannot be reached.") from None
        except ValueError:
            raise Unavailable("The own server's answer cannot be read.") from None

    def _look(self) -> str | None:
        try:
            response = self._client.get("/api/tags", timeout=CONNECT_S)
            models = [str(m.get("name")) for m in response.json()["models"]] if response.status_code == 200 else None
        except (httpx.HTTPError, httpx.InvalidURL):
            return "The own server does not answer."
        except (ValueError, KeyError, TypeError, AttributeError):
            return "The own server's answer cannot be read."
        if models is None:
            return f"The own server answers {response.status_code}."
        if self.model not in models and f"{self.model}:latest" not in models:
            return f"The own server has no model {self.model}."
        return None


class _NoFunctions(Exception):
    """The model takes no tools."""


def _message(message: Message) -> dict[str, Any]:
    told: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.calls:
        told["tool_calls"] = [{"function": {"name": c.name, "arguments": c.arguments}} for c in message.calls]
    if message.role == "tool" and message.name:
        told["tool_name"] = message.name
    return told


def _calls(message: Mapping[str, Any], known: int) -> list[ToolCall]:
    found = []
    for n, one in enumerate(message.get("tool_calls") or (), start=known):
        function = one.get("function") if isinstance(one, Mapping) else None
        if isinstance(function, Mapping) and isinstance(function.get("name"), str):
            found.append(ToolCall(f"call-{n}", function["name"], function.get("arguments", {})))
    return found


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _refusal(status: int, model: str) -> str:
    if status == 404:
        return f"The own server has no model {model}."
    return f"The own server refused with {status}."
