"""A server of pictures on this machine, and pictures."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from PIL import Image

from core.photos.fetch import Fetcher
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core

Answer = tuple[int, dict[str, str], bytes]


def png(width: int = 40, height: int = 30, mode: str = "RGB", kind: str = "PNG", **save: Any) -> bytes:
    out = io.BytesIO()
    Image.new(mode, (width, height), 120 if mode in ("L", "P") else (200, 30, 30, 90)[: len(mode)]).save(
        out, kind, **save
    )
    return out.getvalue()


class Web:
    """`answers` by path: status, headers, body; a float in the headers' place of "trickle" is a pause per byte."""

    def __init__(self, answers: dict[str, Answer] | None = None) -> None:
        self.answers: dict[str, Answer] = {"/p.png": (200, {"Content-Type": "image/png"}, png()), **(answers or {})}
        self.asked: list[tuple[str, str]] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.asked.append((self.headers["Host"], self.path))
                status, headers, body = web.answers.get(self.path, (404, {}, b""))
                trickle = float(headers.get("X-Trickle", 0))
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                try:
                    if not trickle:
                        self.wfile.write(body)
                        return
                    for byte in body:
                        self.wfile.write(bytes([byte]))
                        self.wfile.flush()
                        time.sleep(trickle)
                except OSError:
                    return

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path: str = "/p.png", host: str = "photos.example") -> str:
        return f"http://{host}:{self.port}{path}"

    def fetcher(self, resolve: Callable[[str, int], list[str]] | None = None, **options: Any) -> Fetcher:
        """One that may come here, whatever the name."""
        given = {"allowed": lambda address: address == "127.0.0.1", "ports": None, **options}
        return Fetcher(resolve=resolve or (lambda host, port: ["127.0.0.1"]), **given)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


def ingest(core: Core, web: Web, key: str = "k1", path: str = "/p.png") -> None:
    """A dialog whose main photo is on that web."""
    core.ingest.ingest(body(key, photoUrl=web.url(path)))
