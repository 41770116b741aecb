"""Start of the whole product on a fresh data folder, and again: seconds to the first page, memory of its processes."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import psutil

ROOT = Path(__file__).parent.parent


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="desk-bench-") as folder:
        Path(folder).chmod(0o755)
        first, memory = start_once(Path(folder) / "data")
        again, memory_again = start_once(Path(folder) / "data")
    print(f"first start with demo data, to the first page: {first:.1f} s (budget 20 s)")
    print(f"second start, initialised folder: {again:.1f} s (budget 6 s); first / second {first / again:.1f}")
    print(f"app, gateway, embedder: {max(memory, memory_again):.0f} MB, Postgres on top of it (budget 750 MB)")


def start_once(data_dir: Path) -> tuple[float, float]:
    """Seconds from the command to a first search through the API, and megabytes (unique set size) after it."""
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
        ask(base)
        return seconds, megabytes(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


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
