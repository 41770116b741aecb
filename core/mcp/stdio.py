"""`python -m core mcp`: one client over standard input and output. Only protocol messages go out there.

The client is answered at once; the core, and with it the embedded database, starts beside that. While it serves, the
descriptors of standard input and output are diverted, so that a stray line, also of a child process, goes to stderr.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from core.bootstrap import Core, build_core
from core.config import Settings, load_settings
from core.errors import CoreError
from core.mcp.server import build_server


class LateCore:
    """The core of this process, built by whoever asks first; a start that failed is tried again at the next call."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._core: Core | None = None
        self._closed = False

    def __call__(self) -> Core:
        """Errors: CoreError."""
        with self._lock:
            if self._closed:
                raise CoreError("Memory Desk is stopping.")
            if self._core is None:
                self._core = build_core(self._settings, background=False)
            return self._core

    def warm(self) -> None:
        """Build it already; what fails is told on stderr, and again to whoever calls."""
        try:
            self()
        except CoreError as error:
            print(f"Memory Desk over MCP: {error}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Idempotent; waits for a start under way."""
        with self._lock:
            self._closed = True
            core, self._core = self._core, None
            if core is not None:
                core.close()


def serve() -> int:
    """Until the client closes our input. Exit code 1 where the configuration cannot work."""
    try:
        late = LateCore(load_settings())
    except CoreError as error:
        print(f"Failed: {error}", file=sys.stderr)
        return 1
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: threading.Thread(target=_leave, args=(late,)).start())
    try:
        anyio.run(_serve, late)
    finally:
        late.close()
    return 0


async def _serve(late: LateCore) -> None:
    server = build_server(late)
    async with stdio_server() as (incoming, outgoing):
        threading.Thread(target=late.warm, name="start", daemon=True).start()
        await server.run(incoming, outgoing, server.create_initialization_options())


def _leave(late: LateCore) -> Any:
    # A thread still waits for input, and nothing can wake it: after the core is closed, the process ends as it is.
    late.close()
    os._exit(0)
