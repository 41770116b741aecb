"""The gateway over the tables of tables.sql; their rows are fresh for each test that follows a write."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import psycopg
import pytest

from tests.contract.served import KEYS, Served, as_role, serve

if TYPE_CHECKING:
    from supabase import Client

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def served(worker_id: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One gateway process per worker, over a database named for it."""
    from tests.support.database import clone, drop, server_of_run

    server, name = server_of_run(), f"contract_{worker_id}"
    clone(server, "template_blank", name)
    with psycopg.connect(server.dsn(name, "postgres"), autocommit=True) as owner:
        owner.execute((HERE / "tables.sql").read_text())
    running = serve(tmp_path_factory.mktemp("gateway"), server.dsn(name, "authenticator"), server.dsn(name))
    yield running
    running.stop()
    drop(server, name)


@pytest.fixture
def gateway(served: Served) -> Served:
    """The same, with the rows of rows.sql."""
    if served.touched:
        served.sql((HERE / "rows.sql").read_text())
        served.touched = False
    return served


@pytest.fixture(scope="session")
def clients(served: Served) -> Iterator[dict[str, httpx.Client]]:
    """One client per key: making one costs more than most tests."""
    made = {key: as_role(served, key) for key in KEYS}
    yield made
    for client in made.values():
        client.close()


@pytest.fixture
def http(gateway: Served, clients: dict[str, httpx.Client]) -> httpx.Client:
    """Plain HTTP as service_role."""
    return clients["service-key"]


@pytest.fixture
def anon(gateway: Served, clients: dict[str, httpx.Client]) -> httpx.Client:
    return clients["anon-key"]


@pytest.fixture
def user(gateway: Served, clients: dict[str, httpx.Client]) -> httpx.Client:
    return clients["user-key"]


@pytest.fixture(scope="session")
def session_supabase(served: Served) -> Iterator[Client]:
    from supabase import ClientOptions, create_client

    with httpx.Client(timeout=20, event_hooks={"request": [served.watch]}) as transport:
        yield create_client(
            served.url, "service-key", options=ClientOptions(httpx_client=transport, postgrest_client_retry=False)
        )


@pytest.fixture
def supabase(gateway: Served, session_supabase: Client) -> Client:
    """The real client as service_role."""
    return session_supabase
