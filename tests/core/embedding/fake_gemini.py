"""A local server that speaks the REST of `batchEmbedContents`, and fails on demand."""

from __future__ import annotations

import json
import threading
import time
import unicodedata
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from core.embedding.test import TestEmbedder


class FakeGemini:
    """Answers each request with the next entry of `script`, and "ok" when the script is used up.

    Entries: "ok", an HTTP status such as 429, "slow", "short" (a vector too few), "wrong_dimension", "garbage",
    "list" (JSON of another shape), "nan", "zeros", "closed" (the connection ends without an answer), "cut" (in the
    middle of one). As the real one does, it answers 400 to a batch of several texts of which one is empty.
    """

    def __init__(self, *script: str | int, slow_s: float = 1.0, retry_after: str | None = None) -> None:
        self.script = list(script)
        self.slow_s = slow_s
        self.retry_after = retry_after
        self.requests: list[dict[str, Any]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> FakeGemini:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def texts(self) -> list[list[str]]:
        """The texts of each request, in the order of arrival."""
        return [[_text(r) for r in request["body"]["requests"]] for request in self.requests]


def is_empty(text: str) -> bool:
    """Nothing is left without white space and format characters."""
    return all(c.isspace() or unicodedata.category(c) in ("Cf", "Mn", "Cc") for c in text)


def _text(request: dict[str, Any]) -> str:
    return "".join(part.get("text", "") for part in request["content"]["parts"])


def _handler(fake: FakeGemini) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fake.requests.append({"path": self.path, "headers": dict(self.headers), "body": body})
            step = fake.script.pop(0) if fake.script else "ok"
            texts = [_text(request) for request in body["requests"]]
            if step == "closed":
                self.close_connection = True
                return
            if isinstance(step, int):
                self._error(step, texts)
            elif len(texts) > 1 and any(is_empty(text) for text in texts):
                self._error(400, texts)
            else:
                self._vectors(str(step), texts)

        def _vectors(self, step: str, texts: list[str]) -> None:
            if step == "slow":
                time.sleep(fake.slow_s)
            vectors = TestEmbedder().embed_documents(texts).tolist()
            if step == "short":
                vectors.pop()
            if step == "wrong_dimension":
                vectors = [vector[:256] for vector in vectors]
            if step == "zeros":
                vectors[-1] = [0.0] * 768
            if step == "nan":
                vectors[-1][3] = float("nan")
            answer = json.dumps({"embeddings": [{"values": vector} for vector in vectors]}).encode()
            if step == "garbage":
                answer = b"<html>proxy login</html>"
            if step == "list":
                answer = b'[["embeddings"]]'
            self._send(200, answer, cut=step == "cut")

        def _error(self, status: int, texts: list[str]) -> None:
            # The message quotes what was sent, key included: none of it may reach our errors.
            message = f"refused {texts} for {self.headers['x-goog-api-key']}"
            error = {"error": {"code": status, "message": message, "status": f"STATUS_{'X' * (status // 100)}"}}
            self._send(status, json.dumps(error).encode())

        def _send(self, status: int, body: bytes, *, cut: bool = False) -> None:
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            if fake.retry_after:
                self.send_header("retry-after", fake.retry_after)
            self.end_headers()
            self.wfile.write(body[: len(body) // 2] if cut else body)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler
