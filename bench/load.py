"""Fifty people browsing and twenty programs searching for two minutes against one application on this machine.

Sessions speak Streamlit's own protocol over a WebSocket, one after the other through the pages, and each types a word
of its own on Dialogs: nobody may be sent anybody else's. Prints requests, errors, times, memory and the load beside.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import tempfile
import threading
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.sync.client import connect

from pages._shared.sitemap import PLACES
from tests.support.application import Application

PEOPLE, PROGRAMS, SECONDS, PAUSE_S = 50, 20, 120.0, (1.0, 4.0)
SHOTS = 8
MARK = re.compile(rb"mark-\d{3}-[0-9a-f]{8}")
QUERIES = ("trust", "serious relationship", "що вона любить", "чай и книги", "where does she work")


class Person:
    """One browser session: goes from page to page, and types its own word on Dialogs."""

    def __init__(self, url: str, number: int) -> None:
        self.mark = f"mark-{number:03d}-{os.urandom(4).hex()}"
        self.times: list[float] = []
        self.trouble: Counter[str] = Counter()
        self._socket = connect(
            url.replace("http", "ws") + "/_stcore/stream", subprotocols=["streamlit"],  # type: ignore[list-item]
            max_size=None, origin=url, open_timeout=60,  # type: ignore[arg-type]
        )  # fmt: skip

    def run(self, until: float) -> None:
        try:
            while time.monotonic() < until:
                self.visit(random.choice(PLACES).name)
                if random.random() < 0.4:
                    widget = self.visit("dialogs")
                    if widget:
                        self.visit("dialogs", {widget: self.mark})
                time.sleep(random.uniform(*PAUSE_S))
        except Exception as failure:  # a session that is cut off is what is counted here
            self.trouble[type(failure).__name__] += 1
        finally:
            self._socket.close()

    def visit(self, page: str, typed: dict[str, str] | None = None) -> str | None:
        """Run a page; the id of its field Find, where it has one."""
        ask = BackMsg()
        ask.rerun_script.page_name = page
        for widget, text in (typed or {}).items():
            ask.rerun_script.widget_states.widgets.add(id=widget, string_value=text)
        began = time.perf_counter()
        self._socket.send(ask.SerializeToString())
        field = None
        while True:
            data = self._socket.recv(timeout=60)
            assert isinstance(data, bytes)
            for mark in MARK.findall(data):
                if mark.decode() != self.mark:
                    self.trouble["saw another's word"] += 1
            told = ForwardMsg.FromString(data)
            kind = told.WhichOneof("type")
            element = told.delta.new_element if kind == "delta" else None
            if (
                element is not None
                and element.WhichOneof("type") == "text_input"
                and element.text_input.label == "Find"
            ):
                field = element.text_input.id
            elif element is not None and element.WhichOneof("type") == "exception":
                self.trouble["exception on a page"] += 1
            elif kind == "script_finished":
                break
        self.times.append(time.perf_counter() - began)
        return field


class Program:
    """One client of the API that searches, without a pause."""

    def __init__(self, url: str) -> None:
        self.url, self.times, self.trouble = url, [], Counter[str]()

    def run(self, until: float) -> None:
        while time.monotonic() < until:
            body = {"ruId": "70448", "tuId": "3104", "query": random.choice(QUERIES), "explain": True}
            request = urllib.request.Request(
                f"{self.url}/stack-ai/tips/memory/search",
                data=json.dumps(body).encode(),
                headers={"Content-Type": "application/json"},
            )
            began = time.perf_counter()
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    if len(json.load(answer)["results"]) == 0:
                        self.trouble["no result"] += 1
            except Exception as failure:
                self.trouble[f"{type(failure).__name__} {getattr(failure, 'code', '')}".strip()] += 1
            self.times.append(time.perf_counter() - began)


def memory(process: psutil.Process) -> tuple[int, int]:
    """MB of the application alone, and with its children (database, gateway, embedder); a page that several of them
    share counts in parts, since each process of the database would else count the same buffers."""
    sizes = []
    for one in [process, *process.children(recursive=True)]:
        try:
            found = one.memory_full_info()
        except psutil.NoSuchProcess:
            continue
        sizes.append(getattr(found, "pss", found.rss))
    return sizes[0] // 2**20, sum(sizes) // 2**20


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else SECONDS
    with tempfile.TemporaryDirectory(prefix="desk-load-") as folder:
        Path(folder).chmod(0o755)
        env = {"MEMORY_DESK_DATA_DIR": f"{folder}/data", "MEMORY_DESK_RATE_PER_MINUTE": "0"}
        app = Application(env, Path(folder) / "log.txt")
        app.wait()
        try:
            return report(app, seconds)
        finally:
            app.stop()


def report(app: Application, seconds: float) -> int:
    while _chunks(app.url) < 1_000:
        time.sleep(1)
    time.sleep(10)  # the companion looks at the demo days
    people, programs = [Person(app.url, n) for n in range(PEOPLE)], [Program(app.url) for _ in range(PROGRAMS)]
    process = psutil.Process(app.process.pid)
    until = time.monotonic() + seconds
    threads = [threading.Thread(target=one.run, args=(until,)) for one in (*people, *programs)]
    used = [memory(process)]
    for thread in threads:
        thread.start()
    for _ in range(SHOTS):
        time.sleep(seconds / SHOTS)
        used.append(memory(process))
    for thread in threads:
        thread.join()
    trouble: Counter[str] = sum((one.trouble for one in (*people, *programs)), Counter())
    for name, group in (("page runs", people), ("searches", programs)):
        times = sorted(t for one in group for t in one.times)
        half, most = (times[int(len(times) * share)] * 1000 for share in (0.5, 0.95))
        print(f"{name}: {len(times):,} in {seconds:.0f} s by {len(group)}; median {half:.0f} ms, 95 % {most:.0f} ms")
    print(f"errors: {sum(trouble.values())} {dict(trouble) or ''}")
    for what, sizes in zip(("the application", "with database and embedder"), zip(*used, strict=True), strict=True):
        print(f"memory, {what} (MB, every {seconds / SHOTS:.0f} s): {' → '.join(map(str, sizes))}")
    print(f"load of the machine at the end: {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors")
    return 1 if trouble else 0


def _chunks(url: str) -> int:
    with urllib.request.urlopen(f"{url}/stack-ai/tips/memory/status", timeout=20) as answer:
        found: dict[str, Any] = json.load(answer)
    return int(found["totalChunks"])


if __name__ == "__main__":
    sys.exit(main())
