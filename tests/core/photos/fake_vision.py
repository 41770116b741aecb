"""A local server that speaks the REST of `generateContent`, and fails on demand."""

from __future__ import annotations

import base64
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.core.photos.test_words import FULL


class FakeVision:
    """Answers with the next entry of `script`: "ok" (and when it is used up), an HTTP status, "garbage", "list",
    "prose", "empty", "blocked" (the prompt), "safety" (the answer), "cut", "slow" (a second), "html"."""

    def __init__(self, *script: str | int) -> None:
        self.script = list(script)
        self.requests: list[dict[str, Any]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                fake.requests.append({"path": self.path, "body": body})
                step = fake.script.pop(0) if fake.script else "ok"
                if step == "slow":
                    time.sleep(1.0)
                if isinstance(step, int):
                    message = f"refused the picture for {self.headers['x-goog-api-key']}"
                    self._send(step, json.dumps({"error": {"code": step, "message": message, "status": "X"}}).encode())
                else:
                    self._send(200, _answer(str(step)))

            def _send(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("content-type", "application/json")
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

    def images(self) -> list[bytes]:
        """The pictures that were sent."""
        parts = [part for r in self.requests for content in r["body"]["contents"] for part in content["parts"]]
        sent = [part["inlineData"]["data"] for part in parts if "inlineData" in part]
        return [base64.urlsafe_b64decode(data + "=" * (-len(data) % 4)) for data in sent]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def _answer(step: str) -> bytes:
    if step == "html":
        return b"<html>login</html>"
    if step == "blocked":
        return json.dumps({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}).encode()
    texts = {"garbage": '{"subject": ', "list": '["a"]', "prose": "I see a man.", "empty": ""}
    text = texts.get(step, json.dumps(FULL))
    finish = {"safety": "SAFETY", "cut": "MAX_TOKENS"}.get(step, "STOP")
    if step == "cut":
        text = text[:40]
    candidate: dict[str, Any] = {"finishReason": finish, "content": {"role": "model", "parts": [{"text": text}]}}
    if step == "safety":
        candidate.pop("content")
    usage = {"promptTokenCount": 300, "candidatesTokenCount": 60, "totalTokenCount": 360}
    return json.dumps({"candidates": [candidate], "usageMetadata": usage}).encode()
