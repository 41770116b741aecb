"""The whole application as its own process, and the browser to look at it with."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from core.config import FIELDS, KEY_NAMES, URL_NAMES

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = (*FIELDS, *URL_NAMES, *KEY_NAMES, "MEMORY_DESK_DATABASE", "OLLAMA_BASE_URL")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
START_TIMEOUT_S = 90.0


class Application:
    """`streamlit run app.py` on a free port of loopback."""

    def __init__(self, env: Mapping[str, str], log: Path, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = log
        options = {"server.port": self.port, "server.address": "127.0.0.1", "server.headless": "true"}
        options |= {"browser.gatherUsageStats": "false", "server.fileWatcherType": "none"}
        with log.open("wb") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "streamlit", "run", "app.py", *(f"--{k}={v}" for k, v in options.items())],
                cwd=ROOT,
                env=clean_environment() | {"PORT": str(self.port)} | dict(env),
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait(self) -> None:
        """Until it answers; an application that ends before fails the test with the end of its log."""
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except OSError:
                time.sleep(0.1)
        self.stop()
        raise AssertionError(f"the application did not start:\n{self.log.read_text(errors='replace')[-3000:]}")

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def clean_environment() -> dict[str, str]:
    """This process's environment without any setting of ours."""
    return {name: value for name, value in os.environ.items() if name not in SETTINGS}


def find_chromium() -> str | None:
    """CHROMIUM, else one on the path, else the one Playwright installed."""
    named = os.environ.get("CHROMIUM")
    for candidate in (named, *map(shutil.which, BROWSERS), _of_playwright()):
        if candidate and Path(candidate).exists():
            return candidate
    return None


def _of_playwright() -> str | None:
    home = Path(os.environ.get("PLAYWRIGHT_BROWSERS_PATH") or Path.home() / ".cache/ms-playwright")
    found = sorted(home.glob("chromium-*/chrome-*/chrome")) if home.exists() else []
    return str(found[-1]) if found else None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
