"""The shared fixtures: each test starts from the same database."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import psycopg
import pytest

from core.config import read_settings
from core.local import gateway_process
from core.local import state as states
from core.local.server import Endpoint, LocalSupabase
from tests.support.application import clean_environment, find_chromium
from tests.support.database import MIGRATIONS, Worker


def counts(dsn: str) -> dict[str, int]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        tables = connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1").fetchall()
        found = {}
        for (table,) in tables:
            row = connection.execute(f'select count(*) from public."{table}"'.encode()).fetchone()
            assert row
            found[str(table)] = int(row[0])
        return found


def test_what_a_test_leaves_is_gone_for_the_next(embedded: Worker, endpoint: Endpoint) -> None:
    """Rows are removed, what migrations wrote is put back, a spool is emptied."""
    before = counts(endpoint.dsn)
    assert "client_memory_chunks" in before
    with psycopg.connect(endpoint.dsn, autocommit=True) as connection:
        connection.execute("insert into desk_meta (key, value) values ('test', '1')")
        connection.execute("delete from desk_meta where key <> 'test'")
    (embedded.folder / "spool").mkdir()
    embedded.reset()
    assert counts(endpoint.dsn) == before and not (embedded.folder / "spool").exists()


def test_a_killed_gateway_does_not_spoil_the_next_test(embedded: Worker, endpoint: Endpoint) -> None:
    """It is started again, and the endpoint is right."""
    state = states.read(embedded.folder)
    assert state is not None
    gateway_process.stop(state.gateway)
    embedded.reset()
    assert gateway_process.accepts(int(embedded.endpoint.url.rpartition(":")[2]))


def test_another_process_would_join_this_database(env: Mapping[str, str], endpoint: Endpoint) -> None:
    """The settings lead to a folder that is joined as a guest; migrations are not looked at again."""
    settings = read_settings(env)
    guest = LocalSupabase.attach(settings.data_dir, migrations=MIGRATIONS)
    assert guest.endpoint == endpoint
    guest.close()


def test_no_setting_of_the_developer_reaches_a_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not in this process, and not in those it starts."""
    import os

    assert "SUPABASE_URL" not in os.environ
    monkeypatch.setenv("SUPABASE_URL", "https://example.invalid")
    assert "SUPABASE_URL" not in clean_environment()


def test_a_browser_is_found_where_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """CHROMIUM comes first; a path without a file is no browser."""
    (tmp_path / "browser").touch()
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "browser"))
    assert find_chromium() == str(tmp_path / "browser")
    monkeypatch.setenv("CHROMIUM", str(tmp_path / "missing"))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))
    assert find_chromium() is None
