"""How the server starts, and when it refuses to."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from core.config import read_settings
from core.errors import ConfigError
from pages._shared.lifespan import refuse_open_address
from tests.support.application import ROOT, clean_environment


def started(env: Mapping[str, str], address: str) -> subprocess.CompletedProcess[str]:
    """A start that is expected to end by itself."""
    return subprocess.run(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.address", address, "--server.port", "0"],
        cwd=ROOT,
        env=clean_environment() | dict(env),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )


@pytest.mark.parametrize("address", ["0.0.0.0", "192.0.2.7", "::", "desk.example"])
def test_an_open_address_needs_a_decision(address: str) -> None:
    """Without sign-in everybody on the network could read everything; the operator has to say so."""
    with pytest.raises(ConfigError) as refused:
        refuse_open_address(read_settings({}), address, signed=False)
    assert "MEMORY_DESK_ALLOW_ANONYMOUS" in refused.value.hint
    refuse_open_address(read_settings({"MEMORY_DESK_ALLOW_ANONYMOUS": "1"}), address, signed=False)
    refuse_open_address(read_settings({}), address, signed=True)


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1", "127.8.8.8"])
def test_loopback_is_always_fine(address: str) -> None:
    """This machine alone needs no decision."""
    refuse_open_address(read_settings({}), address, signed=False)


@pytest.mark.parametrize(
    ("env", "said"),
    [
        ({"SUPABASE_URL": "https://x.example", "PORT": "many"}, ["BESCO_SUPABASE_SERVICE_ROLE_KEY", "PORT"]),
        ({"MEMORY_DESK_TEST_ADDRESS": "0.0.0.0"}, ["HOST is 0.0.0.0", "MEMORY_DESK_ALLOW_ANONYMOUS"]),
    ],
)
def test_a_start_that_cannot_work_says_everything_and_ends(
    env: Mapping[str, str], said: list[str], tmp_path: Path
) -> None:
    """Exit code 2, each problem by name, no traceback; above all no empty demo in place of a lost production."""
    address = env.get("MEMORY_DESK_TEST_ADDRESS", "127.0.0.1")
    done = started(dict(env) | {"MEMORY_DESK_DATA_DIR": str(tmp_path)}, address)
    assert done.returncode == 2, done.stderr
    assert "Memory Desk does not start." in done.stderr
    assert all(word in done.stderr for word in said)
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("secrets", "said"),
    [
        (None, ["secrets file cannot be read"]),
        ("[auth", ["secrets file cannot be read"]),
        ('auth = "on"', ["auth is no section"]),
        ("[auth]", ["auth.redirect_uri", "auth.cookie_secret", "auth names no provider"]),
        ('[auth]\nredirect_uri = "http://127.0.0.1:1/oauth2callback"\ncookie_secret = "hush"\n[auth.staff]\n'
         'client_id = "desk"\nclient_secret = "whisper"', ["auth.cookie_secret", "auth.staff.server_metadata_url"]),
    ],
)  # fmt: skip
def test_a_broken_sign_in_never_runs_open(secrets: str | None, said: list[str], tmp_path: Path) -> None:
    """On this machine too, and no value is repeated: what was meant to keep people out does not let them in."""
    file = tmp_path / "secrets.toml"
    if secrets is not None:
        file.write_text(secrets, encoding="utf-8")
    done = started({"STREAMLIT_SECRETS_FILES": str(file), "MEMORY_DESK_DATA_DIR": str(tmp_path / "data")}, "127.0.0.1")
    assert done.returncode == 2, done.stderr
    assert all(word in done.stderr for word in said)
    assert not any(word in done.stderr + done.stdout for word in ("hush", "whisper", "Traceback"))
