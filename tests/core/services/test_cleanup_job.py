"""The clean-up of snapshots as a job: all of it, stopped half way, taken up again."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from core.bootstrap import Core, build_core
from core.config import read_settings
from core.embedding.test import TestEmbedder
from core.jobs.job import JobRunning

if TYPE_CHECKING:
    from core.local.server import Endpoint

FILL = """
insert into tips_daily_entity_snapshots (dialog_key, entity_type, source_role, source_id, payload, content_hash,
                                         expires_at)
select 'd' || n %% 7, 'note', '', n::text, '{}', 'h', now() + case when n <= %s then -1 else 1 end * interval '1 day'
from generate_series(1, %s) n
"""


@pytest.fixture
def desk(env: Mapping[str, str], endpoint: Endpoint) -> Any:
    with build_core(read_settings(env), endpoint=endpoint, embedder=TestEmbedder(), background=False) as core:
        yield core


def fill(dsn: str, expired: int, total: int) -> None:
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute(FILL, (expired, total))


def test_what_is_expired_goes(desk: Core, dsn: str) -> None:
    """In batches, with the number that went by type; the rest stays."""
    fill(dsn, 2500, 2600)
    job = desk.jobs.finish_here(desk.cleanup.start(2500).id)
    assert job.state == "done" and job.result
    assert (job.result["deleted"], job.result["by_type"]) == (2500, {"note": 2500})
    assert (job.done, job.total) == (2500, 2500)
    assert desk.db.count("tips_daily_entity_snapshots") == 100


def test_stopped_it_says_how_far_it_got_and_goes_on_counting(
    desk: Core, dsn: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Deleted stays deleted, in whole batches; a second clean-up does the rest."""
    fill(dsn, 3500, 3500)
    job = desk.cleanup.start(3500)
    batch = desk.snapshots._store.cleanup_batch

    def stop_after_two(*arguments: Any) -> Any:
        answer = batch(*arguments)
        if desk.db.count("tips_daily_entity_snapshots") == 1500:
            desk.jobs.cancel(job.id)
        return answer

    monkeypatch.setattr(desk.snapshots._store, "cleanup_batch", stop_after_two)
    stopped = desk.jobs.finish_here(job.id)
    monkeypatch.undo()
    assert stopped.state == "cancelled" and stopped.result == {"deleted": 2000}
    assert desk.db.count("tips_daily_entity_snapshots") == 1500
    assert (desk.jobs.finish_here(desk.cleanup.start(1500).id).result or {})["deleted"] == 1500


def test_one_at_a_time(desk: Core) -> None:
    """The second press says that it runs; beside it another kind may be queued."""
    form = str(uuid.uuid4())
    assert desk.cleanup.start(1, id=form).id == desk.cleanup.start(1, id=form).id
    with pytest.raises(JobRunning):
        desk.cleanup.start(1)
