"""What can be set of uvicorn only from inside, since `streamlit run` starts it with its own arguments."""

from __future__ import annotations

from typing import Any

from starlette.types import Receive

CONNECTIONS = 2_000


def tune(receive: Receive) -> None:
    """At the start of the application: no Server header, and an end to the number of connections.

    `receive` of the lifespan belongs to the object that holds uvicorn's settings; another server is left alone.
    """
    config: Any = getattr(getattr(receive, "__self__", None), "config", None)
    headers = getattr(config, "encoded_headers", None)
    if isinstance(headers, list):
        config.encoded_headers = [(name, value) for name, value in headers if name.lower() != b"server"]
        if config.limit_concurrency is None:
            config.limit_concurrency = CONNECTIONS
