"""Workbench, and the inbox on the page of a module: empty, full, broken; approve, reject, two sessions at once."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.companion.act.proposal_store import ProposalStore
from core.errors import StatementTimeout
from core.events.actor import ai
from pages._shared import resources
from tests.pages.conftest import ODD, calm, texts
from tests.support.snapshots import count, row, upstream

Open = Callable[..., AppTest]


@pytest.fixture
def sql(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def propose(core: Core, tool: str, why: str = "It is full.", **params: Any) -> str:
    agent = ai("planner", f"Planner {ODD}", mission_id="mission-1", iteration_id="i-1", rationale=why)
    result = core.companion.act.executor.call(tool, params, actor=agent)
    assert result.success, result.message
    return str(result.data["proposal_id"])


def propose_cleanup(core: Core, sql: psycopg.Connection[Any], rows: int = 3) -> str:
    past = (datetime.now(UTC) - timedelta(hours=2)).isoformat()
    upstream(sql, *(row(day="2026-11-02", source_id=f"{n}", expires_at=past) for n in range(rows)))
    shown = core.companion.act.executor.call("preview_cleanup", {}).data
    return propose(core, "run_cleanup", preview_id=shown["preview_id"], expected_count=shown["expected_count"])


def test_empty(core: Core, open_page: Open) -> None:
    """Workbench says that nothing waits and what an AI may do; the pages of modules say nothing."""
    at = calm(open_page("workbench"))
    assert "Nothing waits for you" in texts(at)
    rules = next(d.value for d in at.dataframe if "policy" in d.value)
    assert set(rules["policy"]) == {"may", "asks first", "may not"}
    for page in ("snapshots", "usage", "health", "dialogs"):
        at = calm(open_page(page))
        assert not [b for b in at.button if str(b.key).startswith("approve-")]
        assert "propos" not in texts(at)


def test_a_card(core: Core, open_page: Open) -> None:
    """Who, what, why, until when, character for character; on its module's page and not on another's."""
    id = propose(core, "set_token_budget", ODD, value=5_000)
    for page in ("workbench", "usage"):
        at = calm(open_page(page))
        said = texts(at)
        assert "Set the token budget" in said and "5,000" in said and ODD in said
        assert "proposes this" in said and "expires in 6 d" in said
        assert at.button(key=f"approve-{id}")
    assert "Set the token budget" not in texts(calm(open_page("health")))


def test_approve(core: Core, open_page: Open) -> None:
    """One press runs it and says what came of it; the card is gone, the decided list has it."""
    id = propose(core, "set_token_budget", value=5_000)
    at = calm(open_page("workbench"))
    at.button(key=f"approve-{id}").click()
    calm(at.run())
    assert "The budget is 5,000 tokens a day now." in texts(at) and "Nothing waits for you" in texts(at)
    assert core.usage.prices.budget().tokens_per_day == 5_000
    at = calm(open_page("workbench", {"view": "decided"}))
    assert list(next(d.value for d in at.dataframe if "decision" in d.value)["decision"]) == ["done"]


def test_reject_with_a_reason(core: Core, open_page: Open) -> None:
    """Nothing runs; the reason is kept and shown."""
    id = propose(core, "set_token_budget", value=5_000)
    at = calm(open_page("usage"))
    at.text_input(key=f"reason-{id}").set_value(f" too much {ODD} ")
    at.button(key=f"reject-{id}").click()
    calm(at.run())
    assert "rejected. Nothing was run." in texts(at)
    assert core.usage.prices.budget().tokens_per_day is None
    assert core.companion.act.proposals.get(id).feedback == f"too much {ODD}"
    at = calm(open_page("workbench", {"view": "decided"}))
    assert f"too much {ODD}" in set(next(d.value for d in at.dataframe if "decision" in d.value)["result"])


def test_stale(core: Core, open_page: Open) -> None:
    """What changed since is said, with what to do; the card stays, nothing ran."""
    id = propose(core, "set_token_budget", value=5_000)
    core.companion.act.executor.call("set_token_budget", {"value": 7})
    at = calm(open_page("workbench"))
    at.button(key=f"approve-{id}").click()
    calm(at.run())
    assert "no longer as it was" in texts(at) and at.button(key=f"approve-{id}")
    assert core.usage.prices.budget().tokens_per_day == 7


def test_a_failed_run_can_be_tried_again(
    core: Core, open_page: Open, sql: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The failure stands on the card with a way to try again."""
    from core.services.snapshots import SnapshotService

    id, whole = propose_cleanup(core, sql), SnapshotService.cleanup_previewed

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    monkeypatch.setattr(SnapshotService, "cleanup_previewed", away)
    at = calm(open_page("snapshots"))
    at.button(key=f"approve-{id}").click()
    calm(at.run())
    assert "its run failed: The database took too long." in texts(at) and count(sql) == 3
    monkeypatch.setattr(SnapshotService, "cleanup_previewed", whole)
    at.button(key=f"retry-{id}").click()
    calm(at.run())
    assert "3 expired snapshots were deleted." in texts(at) and count(sql) == 0


def test_two_sessions_approve_at_the_same_moment(core: Core, open_page: Open, sql: psycopg.Connection[Any]) -> None:
    """Rows are deleted once, under the AI; one session is told of it, the other that it is decided."""
    id = propose_cleanup(core, sql, 5)
    sessions = [calm(open_page("workbench")) for _ in range(2)]
    gate = threading.Barrier(2)

    def press(at: AppTest) -> None:
        gate.wait()
        at.button(key=f"approve-{id}").click().run()

    threads = [threading.Thread(target=press, args=(at,)) for at in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    said = [texts(calm(at)) for at in sessions]
    assert sum("5 expired snapshots were deleted." in words for words in said) == 1
    assert sum("approved already" in words for words in said) == 1
    assert count(sql) == 0
    assert resources.core().events.flush()  # the pages' own
    (ran,) = core.events.store.query(type="CleanupRan").rows
    assert (ran.actor.kind, ran.payload["deleted"]) == ("ai", 5)


def test_many(core: Core, open_page: Open) -> None:
    """A module's page shows three cards and the way to the rest; Workbench filters by part and mission."""
    for n in range(1, 6):
        propose(core, "set_token_budget", value=n)
    at = calm(open_page("usage"))
    assert len([b for b in at.button if str(b.key).startswith("approve-")]) == 3
    at = calm(open_page("workbench"))
    assert len([b for b in at.button if str(b.key).startswith("approve-")]) == 5
    at.text_input(key="workbench-mission").set_value("another")
    assert "No proposal of these waits." in texts(calm(at.run()))


def test_broken(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workbench says that it cannot be shown; a module's page shows its own part all the same."""

    def away(*_: Any, **__: Any) -> Any:
        raise StatementTimeout("The database took too long.")

    monkeypatch.setattr(ProposalStore, "list", away)
    assert "Workbench cannot be shown" in texts(open_page("workbench"))
    at = calm(open_page("usage"))
    assert "cannot be shown" not in texts(at)
