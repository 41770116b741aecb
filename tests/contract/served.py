"""A gateway process over a database of its own, for tests that need tables the product does not have."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg

ROOT = Path(__file__).resolve().parents[2]
SECRET = "only-for-tests-only-for-tests-0123456789"
KEYS = {"anon-key": "anon", "user-key": "authenticated", "service-key": "service_role"}
START_TIMEOUT_S = 20.0


@dataclass
class Served:
    """`dsn` is the superuser's; `log` is everything the process wrote; `touched`: the rows may have changed."""

    process: subprocess.Popen[bytes]
    url: str
    dsn: str
    log: Path
    touched: bool = True

    def sql(self, text: str) -> None:
        self.touched = True
        with psycopg.connect(self.dsn, autocommit=True) as connection:
            connection.execute(text)

    def watch(self, request: httpx.Request) -> None:
        self.touched = self.touched or request.method not in ("GET", "HEAD")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(10)


def write_config(folder: Path, dsn: str, **changes: Any) -> Path:
    path = folder / "gateway.json"
    values = {"dsn": dsn, "port": 0, "ready_file": str(folder / "ready.json"), "keys": KEYS, "jwt_secret": SECRET}
    path.touch(mode=0o600)
    path.write_text(json.dumps({**values, **changes}))
    return path


def serve(folder: Path, authenticator_dsn: str, superuser_dsn: str, **changes: Any) -> Served:
    """Start it and wait until it listens."""
    config, log = write_config(folder, authenticator_dsn, **changes), folder / "log.txt"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "core.local.gateway", "--config", str(config)],
            cwd=ROOT,
            env={name: os.environ[name] for name in ("PATH", "HOME", "VIRTUAL_ENV") if name in os.environ},
            stdout=output,
            stderr=output,
        )
    ready = folder / "ready.json"
    until = time.monotonic() + START_TIMEOUT_S
    while not ready.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)
    assert ready.exists(), log.read_text()
    return Served(process, f"http://127.0.0.1:{json.loads(ready.read_text())['port']}", superuser_dsn, log)


def token(claims: dict[str, Any], *, secret: str = SECRET, algorithm: str = "HS256") -> str:
    """A JWT with these claims."""

    def part(data: bytes) -> str:
        return base64.urlsafe_b64encode(data).rstrip(b"=").decode()

    body = ".".join(part(json.dumps(piece).encode()) for piece in ({"alg": algorithm, "typ": "JWT"}, claims))
    return f"{body}.{part(hmac.digest(secret.encode(), body.encode(), hashlib.sha256))}"


def as_role(served: Served, key: str) -> httpx.Client:
    """Plain HTTP below /rest/v1 with this key; any method but GET and HEAD marks the rows as touched."""
    return httpx.Client(
        base_url=f"{served.url}/rest/v1",
        headers={"apikey": key, "authorization": f"Bearer {key}"},
        timeout=20,
        event_hooks={"request": [served.watch]},
    )
