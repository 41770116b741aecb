"""What the gateway is told by whoever starts it: one JSON file that only its owner can read."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.errors import ConfigError

HOST = "127.0.0.1"
MAX_BODY_BYTES = 64 * 1024 * 1024
# Supabase's documented values; service_role has none of its own and falls back to authenticator's.
STATEMENT_TIMEOUT_MS = {"anon": 3000, "authenticated": 8000, "service_role": 8000}


@dataclass(frozen=True)
class GatewayConfig:
    """`dsn` logs in as authenticator; `keys` maps an opaque key or a JWT to its role; port 0 means any free one."""

    dsn: str = field(repr=False)
    port: int
    ready_file: Path
    keys: dict[str, str] = field(repr=False)
    jwt_secret: str = field(repr=False)
    max_rows: int = 1000


def read_config(path: Path) -> GatewayConfig:
    """Errors: ConfigError where the file is readable by others, is not the expected JSON, or asks for another host."""
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise ConfigError("The gateway's configuration holds secrets and must be readable by its owner alone (0600).")
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        host = values.get("host", HOST)
        config = GatewayConfig(
            dsn=values["dsn"],
            port=int(values["port"]),
            ready_file=Path(values["ready_file"]),
            keys=dict(values["keys"]),
            jwt_secret=values["jwt_secret"],
            max_rows=int(values.get("max_rows", 1000)),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise ConfigError("The gateway's configuration is not usable.", detail=type(problem).__name__) from None
    if host != HOST:
        raise ConfigError(f"The gateway listens on {HOST} only: it is a single-machine server.")
    if not set(config.keys.values()) <= set(STATEMENT_TIMEOUT_MS):
        raise ConfigError("The gateway's configuration names a role that is none of Supabase's three.")
    return config
