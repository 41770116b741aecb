"""The one core of this process, and what the pages remember beside it."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import streamlit as st

from core.bootstrap import Core, build_core
from core.config import Settings, load_settings
from core.errors import CoreError

PAUSE_S = 4.0


def _usable(built: Core) -> bool:
    return not getattr(built, "closed", False)


@st.cache_resource(show_spinner=False, max_entries=1, validate=_usable, on_release=Core.close)
def _built() -> Core:
    return build_core(load_settings())


def core() -> Core:
    """The core that lifespan, routes and pages share. Errors: CoreError; a failed start is tried again, but not by
    everybody at once: within a few seconds its error is given again, since a start that fails may take as long."""
    book = notebook()
    failed = book.failed_start()
    if failed is not None:
        raise failed.with_traceback(None)
    try:
        return _built()
    except CoreError as error:
        book.start_failed(error)
        raise


@st.cache_resource(show_spinner=False, max_entries=1)
def settings() -> Settings:
    """What is configured, also while no core can be built. Errors: ConfigError."""
    return load_settings()


@dataclass
class Notebook:
    """What survives a failure: since when something fails, and the last good answer of a read. Thread-safe."""

    size: int = 64
    _since: dict[str, datetime] = field(default_factory=dict)
    _last: OrderedDict[Any, Any] = field(default_factory=OrderedDict)
    _start: tuple[float, CoreError] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def failing_since(self, what: str, now: datetime) -> datetime:
        with self._lock:
            return self._since.setdefault(what, now)

    def works(self, what: str) -> None:
        with self._lock:
            self._since.pop(what, None)

    def start_failed(self, error: CoreError) -> None:
        self._start = (time.monotonic(), error)

    def failed_start(self) -> CoreError | None:
        """The error of a start that failed a moment ago."""
        start = self._start
        return start[1] if start and time.monotonic() - start[0] < PAUSE_S else None

    def keep(self, key: Any, value: Any) -> None:
        with self._lock:
            self._last[key] = value
            self._last.move_to_end(key)
            while len(self._last) > self.size:
                self._last.popitem(last=False)

    def last(self, key: Any) -> Any | None:
        with self._lock:
            return self._last.get(key)

    def forget(self) -> None:
        """Drop every answer that was kept."""
        with self._lock:
            self._last.clear()


@st.cache_resource(show_spinner=False, max_entries=1)
def notebook() -> Notebook:
    return Notebook()
