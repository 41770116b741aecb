"""Two local servers that stand for language models: one speaks the Ollama API, one Gemini's streamed REST.

Both answer with the next entry of a script and remember every request: what left the product is what they got.
An entry is a text, a dict {"call": name, "args": {...}} (several in a list), an HTTP status, or one of the words of
each class. A used-up script answers "fine".
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

FINE = "fine"


class FakeModel:
    """What both share: the script and the record. `url` is where it listens."""

    def __init__(self, *script: Any) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.reply(*fake.got())

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.requests.append(body)
                step = fake.script.pop(0) if fake.script else FINE
                if step == "slow":
                    time.sleep(1.0)
                if isinstance(step, int):
                    self.reply(step, json.dumps(fake.refusal(step)).encode())
                else:
                    self.reply(200, fake.answer(step))

            def reply(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header(
                    "content-type", "text/event-stream" if body.startswith(b"data:") else "application/json"
                )
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body)
                except OSError:
                    return

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> FakeModel:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def got(self) -> tuple[int, bytes]:
        return 404, b"{}"

    def refusal(self, status: int) -> dict[str, Any]:
        return {"error": {"code": status, "message": "quotes what was sent", "status": "X"}}

    def answer(self, step: Any) -> bytes:
        """The body of an answer 200."""
        return b""


class FakeOllama(FakeModel):
    """Also: "cut" (ends without `done`), "broken" (no JSON), "error" (an error line in the middle of the stream).

    With `functions=False` a request with tools is refused as a model without them does.
    """

    def __init__(self, *script: Any, models: tuple[str, ...] = ("llama3.1:latest",), functions: bool = True) -> None:
        self.models = models
        self.functions = functions
        super().__init__(*script)

    def got(self) -> tuple[int, bytes]:
        return 200, json.dumps({"models": [{"name": name} for name in self.models]}).encode()

    def refusal(self, status: int) -> dict[str, Any]:
        return {"error": "registry.ollama.ai/library/llama3.1 does not support tools" if status == 400 else "refused"}

    def answer(self, step: Any) -> bytes:
        if step == "broken":
            return b"<html>"
        lines: list[dict[str, Any]] = []
        if isinstance(step, (dict, list)):
            asked = step if isinstance(step, list) else [step]
            calls = [{"function": {"name": c["call"], "arguments": c.get("args", {})}} for c in asked]
            lines.append({"message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": False})
        elif step == "error":
            lines = [{"message": {"content": "Half"}, "done": False}, {"error": "out of memory"}]
        else:
            words = str(step).split(" ")
            pieces = [word + (" " if n < len(words) - 1 else "") for n, word in enumerate(words)]
            lines = [{"message": {"role": "assistant", "content": piece}, "done": False} for piece in pieces]
        if step not in ("cut", "error"):
            lines.append({"message": {"content": ""}, "done": True, "prompt_eval_count": 40, "eval_count": 7})
        return "\n".join(json.dumps(line) for line in lines).encode()


class FakeGeminiChat(FakeModel):
    """Also: "blocked" (the prompt), "safety" (the answer), "html"."""

    def answer(self, step: Any) -> bytes:
        if step == "html":
            return b"<html>login</html>"
        usage = {"promptTokenCount": 50, "candidatesTokenCount": 9, "totalTokenCount": 59}
        if step == "blocked":
            return _events({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage})
        if step == "safety":
            return _events({"candidates": [{"finishReason": "SAFETY", "index": 0}], "usageMetadata": usage})
        if isinstance(step, (dict, list)):
            asked = step if isinstance(step, list) else [step]
            parts: list[dict[str, Any]] = [
                {
                    "functionCall": {"id": f"c{n}", "name": c["call"], "args": c.get("args", {})},
                    "thoughtSignature": "AAAA",
                }
                for n, c in enumerate(asked)
            ]
            return _events(_chunk(parts, usage, "STOP"))
        half = len(str(step)) // 2
        return _events(
            _chunk([{"text": str(step)[:half]}], usage, None), _chunk([{"text": str(step)[half:]}], usage, "STOP")
        )


def _chunk(parts: list[dict[str, Any]], usage: dict[str, int], finish: str | None) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {"candidates": [candidate], "usageMetadata": usage}


def _events(*chunks: dict[str, Any]) -> bytes:
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\r\n\r\n" for chunk in chunks)
