"""The life of the server: settings checked first, core built before the first page, closed after the last."""

from __future__ import annotations

import http.client
import os
import sys
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st
from starlette.concurrency import run_in_threadpool

from core.config import Settings, is_loopback, load_settings
from core.errors import ConfigError, CoreError
from pages._shared.resources import core
from pages._shared.sign_in.ways import ways


@asynccontextmanager
async def lifespan(app: Any) -> AsyncIterator[dict[str, Any]]:
    """Build core, announce the address once it answers, and close core on the way out.

    A configuration that cannot work ends the process with every problem listed. A database that cannot be had does
    not: the pages say what is broken, and the next request tries again.
    """
    try:
        settings = load_settings()
        refuse_open_address(settings, bound_address(), signed=bool(ways()))
    except ConfigError as error:
        _stop(error)
    built = None
    try:
        built = await run_in_threadpool(core)
    except ConfigError as error:
        _stop(error)
    except CoreError as error:
        print(f"Memory Desk starts without its database: {error}", file=sys.stderr, flush=True)
    threading.Thread(target=_announce, name="announce", daemon=True).start()
    try:
        yield {}
    finally:
        if built is not None:
            await run_in_threadpool(built.close)


def check_sign_in() -> None:
    """End the process where sign-in is set up wrongly. Before Streamlit builds its routes: it takes `auth` for a
    section, and a failure there answers 500 for ever."""
    try:
        ways()
    except ConfigError as error:
        _stop(error)


def bound_address() -> str:
    """The address this server listens on; empty means every address of the machine."""
    return st.get_option("server.address") or "0.0.0.0"


def refuse_open_address(settings: Settings, address: str, *, signed: bool) -> None:
    """ConfigError where people on the network could come in without signing in, and nobody said that they may."""
    if is_loopback(address) or signed:
        return
    roles = ", ".join(sorted(settings.local_roles)) or "no role"
    if not settings.allow_anonymous:
        raise ConfigError(
            f"HOST is {address}: without sign-in Memory Desk serves this machine alone.",
            hint="- Set up sign-in (docs/sign-in.md), or HOST=127.0.0.1.\n"
            f"- Or MEMORY_DESK_ALLOW_ANONYMOUS=1: then whoever reaches it is {roles} (MEMORY_DESK_LOCAL_ROLE).",
        )
    print(f"Nobody signs in here: whoever reaches {address} is {roles}.", file=sys.stderr, flush=True)


def _stop(error: ConfigError) -> None:
    print(f"Memory Desk does not start. {error.what}\n{error.hint}", file=sys.stderr, flush=True)
    os._exit(2)  # uvicorn would print a traceback and Streamlit would go on without the API


def _announce() -> None:
    """Print the address as soon as it answers; http.client, because it knows no proxy."""
    address = bound_address()
    host = "127.0.0.1" if address in ("0.0.0.0", "::") else address
    port = st.get_option("server.port")
    base = "/" + st.get_option("server.baseUrlPath").strip("/")
    for _ in range(200):
        try:
            connection = http.client.HTTPConnection(host, port, timeout=1)
            connection.request("GET", f"{base.rstrip('/')}/_stcore/health")
            if connection.getresponse().status == 200:
                print(f"Memory Desk answers on http://{host}:{port}{base}", flush=True)
                return
        except OSError:
            time.sleep(0.1)
