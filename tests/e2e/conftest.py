"""A browser that notes what it asks for, and the demo as a newcomer meets it."""

from __future__ import annotations

import json
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"]
FLAGS += ["--disable-background-networking", "--disable-component-update"]


class Visitor:
    """One person's browser tab; `elsewhere` lists requests to any host but the application's."""

    def __init__(self, page: Page, base: str) -> None:
        self.page = page
        self.base = base
        self.elsewhere: list[str] = []
        page.on("request", self._note)

    def open(self, path: str) -> Page:
        self.page.goto(self.base + path)
        return self.page

    def _note(self, request: object) -> None:
        url = request.url  # type: ignore[attr-defined]
        if not url.startswith(("data:", "blob:")) and urlsplit(url).netloc != urlsplit(self.base).netloc:
            self.elsewhere.append(url)


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def folders() -> Iterator[Callable[[], Path]]:
    """Makes fresh data folders that Postgres may enter; they go after the module."""
    with TemporaryDirectory(prefix="memory-desk-e2e-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        numbers = count(1)
        yield lambda: Path(folder) / f"data-{next(numbers)}"


@pytest.fixture(scope="module")
def demo_folder(folders: Callable[[], Path]) -> Path:
    """The data folder of `demo`."""
    return folders()


@pytest.fixture(scope="module")
def demo(start_app: Callable[[Mapping[str, str]], str], demo_folder: Path) -> str:
    """URL of an application on a fresh data folder, demo data loaded, nothing configured."""
    url = start_app({"MEMORY_DESK_DATA_DIR": str(demo_folder)})
    wait_until_loaded(url)
    return url


def wait_until_loaded(url: str, seconds: float = 120) -> None:
    """Until neither chunks nor usage, the last that is written, grow any more."""
    before, until = (0, 0), time.monotonic() + seconds
    while time.monotonic() < until:
        status, usage = (ask(url, path) for path in ("/memory/status", "/usage/summary?groupBy=day"))
        now = status["totalChunks"], sum(row["calls"] for row in usage["rows"])
        if now == before and all(now):
            return
        before = now
        time.sleep(1)
    raise AssertionError("the demo data did not arrive")


def ask(url: str, path: str) -> Any:
    """The answer of a route of the API."""
    with urllib.request.urlopen(f"{url}/stack-ai/tips{path}", timeout=30) as answer:
        return json.load(answer)


@pytest.fixture
def visitor(browser: Browser, demo: str) -> Iterator[Visitor]:
    context = browser.new_context(viewport={"width": 1440, "height": 1000})
    yield Visitor(context.new_page(), demo)
    context.close()
