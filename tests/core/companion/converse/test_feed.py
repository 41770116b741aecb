"""The feed: every kind in one order, filters before the limit, pages without gaps, no text of a conversation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from core.bootstrap import Core
from core.companion.converse.feed import Item
from core.companion.reflect.facts import Learned
from core.errors import Forbidden, InputError
from core.events.actor import run_as
from core.events.event import Event
from tests.support.companion import agent

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def nudge(sql: psycopg.Connection[Any], id: str, at: datetime, module: str = "drink", title: str = "Drink") -> None:
    sql.execute(
        "insert into companion_nudges (id, rule_id, type, module, data, priority, shown_at)"
        " values (%s, 'water', 'water', %s, jsonb_build_object('title', %s::text, 'body', 'secret words'), 'low', %s)",
        (id, module, title, at),
    )


def event(core: Core, type: str, at: datetime, actor: Any = None, **payload: Any) -> None:
    made = core.events.prepare(type, payload, actor=actor)
    core.events.store.append([{**Event(made.type, made.payload, made.meta).row(), "ts": at.isoformat()}])


@pytest.fixture
def full(core: Core, sql: psycopg.Connection[Any]) -> Core:
    """One of each kind but a conversation."""
    nudge(sql, "n1", NOON)
    core.companion.reflection.facts.learn(Learned("k", "pattern", "Tasks on Mondays", {}, ("todo",)))
    core.companion.act.executor.call("set_token_budget", {"value": 5}, actor=agent())
    event(core, "GoalReached", NOON + timedelta(hours=1), goal_id="g", title="Water", value=8, target=8)
    event(core, "TaskCreated", NOON + timedelta(hours=2), agent("m-2", "i-1"), task_id="t", title="x")
    core.events.flush()
    return core


def read(core: Core, *kinds: Any, **filters: Any) -> list[Item]:
    return list(core.companion.feed.read(kinds, **filters).items)


def test_every_kind_in_one_order(full: Core) -> None:
    """Newest first; each with its title and state."""
    items = read(full)
    assert {i.kind for i in items} == {"nudge", "insight", "proposal", "iteration", "goal"}
    assert [i.at for i in items] == sorted((i.at for i in items), reverse=True)
    by_kind = {i.kind: i for i in items}
    assert (by_kind["goal"].title, by_kind["goal"].detail["status"]) == ("Water", "reached")
    assert by_kind["insight"].title == "Tasks on Mondays" and by_kind["proposal"].title == "set_token_budget"
    assert "secret words" not in str(items)


def test_filters(full: Core) -> None:
    """By kind and by part; before the limit."""
    assert {i.kind for i in read(full, "nudge", "goal")} == {"nudge", "goal"}
    assert [(i.kind, i.module) for i in read(full, module="usage")] == [("proposal", "usage")]
    assert [i.kind for i in read(full, "nudge", limit=1)] == ["nudge"]
    assert {i.kind for i in read(full, module="todo")} == {"insight", "iteration"}
    with pytest.raises(InputError):
        read(full, "gossip")


def test_pages_have_no_gap(core: Core, sql: psycopg.Connection[Any]) -> None:
    """Also where many stand at one moment, and while new ones come in."""
    for n in range(25):
        nudge(sql, f"n{n:02}", NOON - timedelta(minutes=n // 5))
    seen: list[str] = []
    before = None
    for _ in range(20):
        page = core.companion.feed.read(before=before, limit=7)
        seen += [item.id for item in page.items]
        nudge(sql, f"later-{len(seen)}", NOON + timedelta(hours=len(seen)))
        before = page.older
        if before is None:
            break
    assert len(seen) == len(set(seen)) == 25


def test_iterations(core: Core) -> None:
    """One item each, with what was taken back; a run that failed before it did anything; no turn of a chat."""
    who = agent("m", "i")
    event(core, "TaskCreated", NOON, who, task_id="t", title="x")
    event(core, "TaskCompleted", NOON + timedelta(minutes=1), who, task_id="t", title="x")
    event(core, "TaskCreated", NOON, agent("chat:c", "i"), task_id="t2", title="x")
    event(core, "MissionIterationFinished", NOON - timedelta(1), mission_id="m", iteration_id="j", status="failed")
    first, second = read(core, "iteration")
    assert (first.detail["events"], first.detail["agent"], first.detail["status"]) == (2, "Planner", "worked")
    assert (second.detail["status"], second.detail["events"]) == ("failed", 0)


def test_conversations_by_their_titles(core: Core, sql: psycopg.Connection[Any]) -> None:
    """No message; one whose title names a dialog has no title here, a deleted one is gone."""
    made = [
        sql.execute(
            "insert into companion_conversations (id, title, created_at, last_message_at, deleted_at)"
            " values (gen_random_uuid(), %s, %s, %s, %s) returning id",
            (title, NOON, NOON - timedelta(days=n), NOON if title == "Gone" else None),
        ).fetchone()
        for n, title in enumerate(("My week", "About the-dialog", "Gone", "Older"))
    ]
    assert made[1]
    sql.execute(
        "insert into companion_conversation_dialogs (conversation_id, dialog_key, named)"
        " values (%s, 'the-dialog', true)",
        made[1],
    )
    assert [i.title for i in read(core, "chat")] == ["My week", None, "Older"]
    page = core.companion.feed.read(("chat",), limit=1)
    assert [i.title for i in read(core, "chat", before=page.older)] == [None, "Older"]


def test_only_who_may(core: Core) -> None:
    """An AI does not read it."""
    with run_as(agent()), pytest.raises(Forbidden):
        core.companion.feed.read()
