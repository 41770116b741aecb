"""Start of the whole product on a fresh data folder, and again: seconds to the first page, memory of its processes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import psutil

ROOT = Path(__file__).parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        first, loaded, memory = start_once(Path(folder) / "data", demo=True)
        again, _, memory_again = start_once(Path(folder) / "data", demo=False)
    print(f"first start, to the first page: {first:.1f} s; with all demo data: {loaded:.1f} s (budget 20 s)")
    print(f"second start, initialised folder: {again:.1f} s (budget 6 s); first / second {first / again:.1f}")
    print(f"app, gateway, embedder: {max(memory, memory_again):.0f} MB, Postgres on top of it (budget 750 MB)")


def start_once(data_dir: Path, *, demo: bool) -> tuple[float, float, float]:
    """Seconds from the command to the first page and, with `demo`, until nothing is loaded any more; megabytes (unique
    set size) after a search."""
    port = free_port()
    env = {**os.environ, "MEMORY_DESK_DATA_DIR": str(data_dir), "PORT": str(port)}
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port)]
    began = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        base = f"http://127.0.0.1:{port}"
        wait_for(base + "/_stcore/health")
        wait_for(base + "/stack-ai/tips/memory/status")
        seconds = time.perf_counter() - began
        loaded = wait_for_demo(base) - began if demo else seconds
        ask(base)
        return seconds, loaded, megabytes(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def wait_for_demo(base: str, seconds: float = 120) -> float:
    """The moment from which chunks and usage, the last that is written, did not grow for a second."""
    until = time.monotonic() + seconds
    seen, since = (0, 0), time.perf_counter()
    while not all(seen) or time.perf_counter() - since < 1:
        rows = read(f"{base}/stack-ai/tips/usage/summary?groupBy=day")["rows"]
        now = read(f"{base}/stack-ai/tips/memory/status")["totalChunks"], sum(row["calls"] for row in rows)
        if now != seen:
            seen, since = now, time.perf_counter()
        if time.monotonic() > until:
            raise TimeoutError("the demo data did not arrive")
        time.sleep(0.1)
    return since


def read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def ask(base: str) -> None:
    """One search over all of a dialog, so that the embedder is loaded when memory is read."""
    body = b'{"ruId": "nobody", "tuId": "nobody", "query": "serious relationship"}'
    request = urllib.request.Request(
        base + "/stack-ai/tips/memory/search", data=body, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60):
        pass


def megabytes(pid: int) -> float:
    root = psutil.Process(pid)
    family = [root, *root.children(recursive=True)]
    return sum(p.memory_full_info().uss for p in family if "postgres" not in p.name()) / 2**20


def wait_for(url: str, seconds: float = 120) -> None:
    until = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


if __name__ == "__main__":
    main()
