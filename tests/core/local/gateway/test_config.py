"""The gateway's configuration file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from core.errors import ConfigError
from core.local.gateway.config import read_config

VALUES = {"dsn": "dbname=x", "port": 0, "ready_file": "r", "keys": {"k": "anon"}, "jwt_secret": "s"}


def write(folder: Path, mode: int = 0o600, **changes: Any) -> Path:
    path = folder / "gateway.json"
    path.write_text(json.dumps({**VALUES, **changes}))
    path.chmod(mode)
    return path


def test_values(tmp_path: Path) -> None:
    """All of them, with the hosted database's cap where none is given; secrets do not show in repr."""
    config = read_config(write(tmp_path))
    assert (config.port, config.ready_file, config.max_rows, config.keys) == (0, Path("r"), 1000, {"k": "anon"})
    assert "dbname" not in repr(config) and "jwt" not in repr(config)


@pytest.mark.parametrize("changes", [{"host": "0.0.0.0"}, {"keys": {"k": "postgres"}}, {"port": "x"}, {"keys": None}])
def test_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    """Another host, another role and other types are a ConfigError."""
    with pytest.raises(ConfigError):
        read_config(write(tmp_path, **changes))


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX")
def test_others_may_not_read_it(tmp_path: Path) -> None:
    """It holds secrets."""
    with pytest.raises(ConfigError):
        read_config(write(tmp_path, 0o640))


def test_no_json(tmp_path: Path) -> None:
    """Nonsense is a ConfigError that repeats nothing of it."""
    path = write(tmp_path)
    path.write_text("secret nonsense")
    with pytest.raises(ConfigError) as caught:
        read_config(path)
    assert "nonsense" not in str(caught.value) + caught.value.detail
