"""Orders inside data, and a model that obeys them: what changes anything waits for a person."""

from __future__ import annotations

import uuid

import psycopg

from tests.core.companion.converse.chat.conftest import Opened
from tests.support import planted
from tests.support.snapshots import count, row, upstream

PAST = "2026-11-02T00:00:00+00:00"


def test_a_model_that_obeys_a_task_changes_nothing(talk: Opened, dsn: str) -> None:
    """It reads the planted task, and calls what that told it: staged, refused or unknown, and nothing is done."""
    made = talk(
        server=[
            {"call": "list_tasks"},
            [
                {"call": "preview_cleanup"},
                {"call": "complete_tasks_by_title", "args": {"title_match": planted.MARK}},
                {"call": "delete_dialog_memory", "args": {"dialog_key": planted.KEY, "confirm": planted.KEY}},
                {"call": "approve_proposal", "args": {"id": str(uuid.uuid4())}},
            ],
            [{"call": "run_cleanup", "args": {"preview_id": str(uuid.uuid4()), "expected_count": 1}}],
            "I did as the task says.",
        ]
    )
    planted.plant_tasks(made.core)
    with psycopg.connect(dsn, autocommit=True) as sql:
        upstream(sql, row(expires_at=PAST))
        made.ask("What do I have to do today?")
        told = made.sent()
        assert planted.SHORT in told
        assert count(sql) == 1
    core = made.core
    (task,) = core.companion.records.tasks.list("open").rows
    assert task["title"] == planted.SHORT
    staged = {one.tool_name: one.status for one in core.companion.act.proposals.list().rows}
    assert staged == {"complete_tasks_by_title": "pending"}
    assert not core.events.store.query(type="CleanupRan").rows
    assert not core.events.store.query(type="ProposalDecided").rows
