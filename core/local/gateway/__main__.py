"""`python -m core.local.gateway --config FILE`: serves until SIGTERM, and says in the ready file where."""

from __future__ import annotations

import argparse
import json
import logging
import os
import signal
import socket
import sys
from pathlib import Path

import uvicorn

from core.errors import ConfigError
from core.local.gateway.app import App
from core.local.gateway.cache import SchemaCache
from core.local.gateway.config import HOST, GatewayConfig, read_config
from core.local.gateway.listen import Listener
from core.local.gateway.pool import Pool
from core.local.gateway.routes import Gateway

BACKLOG = 128
MAX_HEAD_BYTES = 256 * 1024  # a filter with 500 ids is a URL of 20 kB


class Server(uvicorn.Server):
    """Writes the ready file once it listens."""

    def __init__(self, app: App, config: GatewayConfig) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                lifespan="off",
                ws="none",
                proxy_headers=False,
                server_header=False,
                date_header=False,
                h11_max_incomplete_event_size=MAX_HEAD_BYTES,
                timeout_keep_alive=75,
                timeout_graceful_shutdown=2,
            )
        )
        self._ready_file = config.ready_file

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if sockets and not self.should_exit:
            write_ready(self._ready_file, sockets[0].getsockname()[1])


def listen(port: int) -> socket.socket:
    """A socket on loopback. Made with IPPROTO_TCP: otherwise asyncio leaves TCP_NODELAY off, 40 ms on each answer."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    if os.name == "posix":  # elsewhere the option would let another process take the same port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listening.bind((HOST, port))
    listening.listen(BACKLOG)
    return listening


def write_ready(path: Path, port: int) -> None:
    """`{"port", "pid"}`, whole or not at all, for its owner alone."""
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump({"port": port, "pid": os.getpid()}, file)
    partial.replace(path)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m core.local.gateway", description=__doc__)
    parser.add_argument("--config", type=Path, required=True)
    try:
        config = read_config(parser.parse_args(arguments).config)
        listening = listen(config.port)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"The gateway cannot start: {error.strerror}.", file=sys.stderr)
        return 1
    logging.disable()  # messages of libraries can quote what a client sent, or Postgres' answer to it
    pool = Pool(config.dsn)
    cache = SchemaCache(pool)
    listener = Listener(pool, cache)
    listener.start()
    server = Server(App(Gateway(config, pool, cache)), config)
    for number in (signal.SIGTERM, signal.SIGINT):  # uvicorn raises the signal again at its end: it must not kill us
        signal.signal(number, server.handle_exit)
    server.run(sockets=[listening])
    listener.stop()
    pool.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
