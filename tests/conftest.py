"""What tests share. Those with a database get the embedded Supabase: gateway, roles and migrations of the product.

`endpoint` is empty but for what migrations write; `blank_dsn` has no migration; `fresh_supabase` is a server of its
own, for tests that kill things.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.application import SETTINGS, Application, find_chromium

if TYPE_CHECKING:
    from core.bootstrap import Core
    from core.local.server import Endpoint, LocalSupabase
    from tests.support.database import Worker

NOT_RUN = "NOT RUN"


def pytest_configure(config: pytest.Config) -> None:
    """No setting of the developer's machine reaches a test; the controller opens the run that its workers share."""
    for name in SETTINGS:
        os.environ.pop(name, None)
    if not hasattr(config, "workerinput"):
        from tests.support.database import open_run

        open_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        from tests.support.database import close_run

        close_run()


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tests that could not be run are said aloud: they are not passed tests."""
    missing = [r for r in terminalreporter.stats.get("skipped", []) if NOT_RUN in str(r.longrepr)]
    if missing:
        terminalreporter.section("not run")
        terminalreporter.line(
            f"{len(missing)} browser tests were NOT RUN: no Chromium on this machine (apt install chromium)."
        )


@pytest.fixture(autouse=True)
def somebody(request: pytest.FixtureRequest) -> Iterator[None]:
    """Where nobody acts core refuses everything: tests act as the one at this machine, unless marked `nobody`."""
    from core.events.actor import LOCAL_OPERATOR, run_as

    with nullcontext() if request.node.get_closest_marker("nobody") else run_as(LOCAL_OPERATOR):
        yield


@pytest.fixture(scope="session")
def embedded(worker_id: str) -> Iterator[Worker]:
    """This worker's clone of the migrated database, with its gateway. `worker_id` comes from pytest-xdist."""
    from tests.support.database import start_worker, stop_worker

    worker = start_worker(worker_id)
    yield worker
    stop_worker(worker)


@pytest.fixture
def endpoint(embedded: Worker) -> Endpoint:
    """URL and keys of an empty, migrated database."""
    embedded.reset()
    return embedded.endpoint


@pytest.fixture
def dsn(endpoint: Endpoint) -> str:
    """libpq string of the same database, as superuser."""
    return endpoint.dsn


@pytest.fixture
def owner_dsn(embedded: Worker, endpoint: Endpoint) -> str:
    """libpq string of the same database, as `postgres`: its owner, no superuser, who runs migrations."""
    return embedded.server.dsn(embedded.database, "postgres")


@pytest.fixture
def blank_dsn(embedded: Worker, worker_id: str) -> Iterator[str]:
    """A database as a new hosted project is: roles and vector, no table; libpq string of its owner `postgres`."""
    from tests.support.database import clone, drop

    name = f"blank_{worker_id}"
    clone(embedded.server, "template_blank", name)
    yield embedded.server.dsn(name, "postgres")
    drop(embedded.server, name)


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """An empty folder with a short path, which Postgres may enter also when the tests run as root."""
    folder = Path(tempfile.mkdtemp(prefix="memory-desk-data-"))
    yield folder / "data"
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def fresh_supabase(data_dir: Path) -> Iterator[LocalSupabase]:
    """A server of its own, for tests that kill it. About two seconds."""
    from core.local.server import LocalSupabase
    from tests.support.database import MIGRATIONS

    supabase = LocalSupabase.attach(data_dir, migrations=MIGRATIONS, durable=False)
    yield supabase
    supabase.close()


@pytest.fixture
def env(embedded: Worker, endpoint: Endpoint) -> Mapping[str, str]:
    """Settings with which another process, or an AppTest, attaches to `endpoint`."""
    return {
        "MEMORY_DESK_DATABASE": "embedded",
        "MEMORY_DESK_DATA_DIR": str(embedded.folder),
        "MEMORY_DESK_EMBEDDER": "test",
        "MEMORY_DESK_DEMO": "off",
        "MEMORY_DESK_TZ": "UTC",
    }


@pytest.fixture
def core(env: Mapping[str, str], endpoint: Endpoint) -> Iterator[Core]:
    """The whole core on `endpoint`, with the deterministic embedder and no demo data."""
    from core.bootstrap import build_core
    from core.config import read_settings
    from core.embedding.test import TestEmbedder

    built = build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder())
    yield built
    built.close()


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium. Without one the test is reported as not run."""
    found = find_chromium()
    if found is None:
        pytest.skip(f"{NOT_RUN}: no Chromium on this machine")
    return found


@pytest.fixture(scope="module")
def start_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Mapping[str, str]], str]]:
    """Start the application with these settings and give its URL; all are stopped after the module."""
    running: list[Application] = []

    def start(env: Mapping[str, str]) -> str:
        running.append(Application(env, tmp_path_factory.mktemp("app") / "log.txt"))
        running[-1].wait()
        return running[-1].url

    yield start
    for application in running:
        application.stop()


@pytest.fixture
def app_server(env: Mapping[str, str], tmp_path: Path) -> Iterator[str]:
    """URL of an application attached to `endpoint`."""
    application = Application(env, tmp_path / "app.txt")
    application.wait()
    yield application.url
    application.stop()
