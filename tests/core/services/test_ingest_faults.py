"""The database or its gateway dies in the middle of an ingest: a typed error, and a second try that completes it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.errors import DatabaseError
from core.local import state as states
from core.memory.ingest import Progress
from tests.support.dialogs import SpyEmbedder, body

if TYPE_CHECKING:
    from core.local.server import LocalSupabase


@pytest.fixture
def spy() -> SpyEmbedder:
    return SpyEmbedder()


@pytest.fixture
def own_core(fresh_supabase: LocalSupabase, spy: SpyEmbedder) -> Iterator[Core]:
    """A core that started its own server, as the product does, so that it may revive it."""
    settings = read_settings(
        {
            "MEMORY_DESK_DATABASE": "embedded",
            "MEMORY_DESK_DATA_DIR": str(fresh_supabase.data_dir),
            "MEMORY_DESK_EMBEDDER": "test",
            "MEMORY_DESK_DEMO": "off",
        }
    )
    with build_core(settings, embedder=spy) as core:
        yield core


def kill_gateway(supabase: LocalSupabase) -> None:
    state = states.read(supabase.data_dir)
    assert state and state.gateway
    os.kill(state.gateway.pid, signal.SIGKILL)


def kill_postmaster(supabase: LocalSupabase) -> None:
    state = states.read(supabase.data_dir)
    assert state and state.postgres
    os.kill(state.postgres.pid, signal.SIGKILL)


@pytest.mark.parametrize("kill", [kill_gateway, kill_postmaster])
def test_a_death_between_embedding_and_writing(
    own_core: Core,
    spy: SpyEmbedder,
    fresh_supabase: LocalSupabase,
    kill: Callable[[LocalSupabase], None],
) -> None:
    """Either the write found its way after a revive, or the error is typed; then a second try completes it.

    No duplicate and no missing chunk in both cases, and what was acknowledged before is still there.
    """
    own_core.ingest.ingest(body("before"))
    spy.before = lambda: kill(fresh_supabase)
    interrupted(own_core, body("k1", messages=20))
    spy.before = None
    assert own_core.ingest.ingest(body("k1", messages=20)).total_chunks == 28
    assert stored(fresh_supabase) == [("before", 14, 14), ("k1", 28, 28)]


@pytest.mark.parametrize("kill", [kill_gateway, kill_postmaster])
def test_a_death_while_rows_are_on_their_way(
    own_core: Core, fresh_supabase: LocalSupabase, kill: Callable[[LocalSupabase], None]
) -> None:
    """A write cut off in flight is whole or absent; the second try writes what is missing, once."""
    notes = [{"id": f"n{n}", "text": f"Note number {n} about subject {n}."} for n in range(700)]
    request = {"dialogKey": "k1", "conversationJson": {"notes": notes}}
    own_core.ingest.ingest(body("before"))
    timers: list[threading.Timer] = []

    def soon(stage: str, done: int, total: int) -> None:
        if stage == "embed" and done == total:
            timers.append(threading.Timer(0.1, kill, [fresh_supabase]))
            timers[-1].start()

    interrupted(own_core, request, soon)
    timers[0].join()
    rows = {key: count for key, count, _ in stored(fresh_supabase)}
    assert rows.get("k1", 0) in (0, 500, 700)
    assert own_core.ingest.ingest(request).total_chunks == 700
    assert stored(fresh_supabase) == [("before", 14, 14), ("k1", 700, 700)]


def interrupted(core: Core, request: dict[str, Any], progress: Progress | None = None) -> None:
    """An ingest that may fail, but only with an error of ours that is worth a retry."""
    try:
        core.ingest.ingest(request, progress=progress)
    except DatabaseError as failure:
        assert failure.retryable


def stored(supabase: LocalSupabase) -> list[tuple]:
    """(dialog key, rows, distinct hashes) of every dialog."""
    with psycopg.connect(supabase.revive().dsn) as direct:
        return direct.execute(
            "select dialog_key, count(*), count(distinct content_hash) from client_memory_chunks group by 1 order by 1"
        ).fetchall()
