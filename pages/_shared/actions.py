"""What pages change. Each asks for permission, acts once through core, and clears the reads it made stale."""

from __future__ import annotations

from core.access import require
from core.events import run_as
from core.usage.prices import Budget
from core.usage.pricing import Price
from pages._shared import reads, session
from pages._shared.resources import core


def remove_demo() -> int:
    """Deletes the demo rows; the number of chunks that went. Asked twice, the second finds none. Errors: CoreError."""
    actor = session.actor()
    require(actor, "demo_remove")
    with run_as(actor):
        removed = core().demo.remove()
    reads.forget_dialogs()
    session.keep_exploration(None)
    session.choose_dialog(None)
    return int(removed)


def set_prices(*prices: Price) -> int:
    """Enter prices; past usage is priced anew. Errors: CoreError."""
    actor = session.actor()
    with run_as(actor):
        added = core().usage.set_price(actor, *prices)
    reads.forget_usage()
    return added


def set_budget(budget: Budget) -> None:
    """Errors: CoreError."""
    actor = session.actor()
    with run_as(actor):
        core().usage.set_budget(actor, budget)
    reads.forget_usage()


def rebuild_usage() -> int:
    """Bring the usage totals to what the rows say; how many sums changed. Errors: CoreError."""
    actor = session.actor()
    with run_as(actor):
        changed = int(core().usage.rebuild(actor)["changed"])
    reads.forget_usage()
    return changed


def report_context(retrieval: str, rank: int, reason: str) -> None:
    """Say that a chunk should not have been in a prompt. Errors: CoreError."""
    with run_as(session.actor()):
        core().retrievals.report(retrieval, rank, reason)
    reads.forget_retrievals()


def withdraw_context(report_id: str) -> None:
    """Take such a report back. Errors: CoreError."""
    with run_as(session.actor()):
        core().retrievals.withdraw(report_id)
    reads.forget_retrievals()


def keep_retrievals(days: int) -> None:
    """Keep recorded searches for so many days. Errors: CoreError."""
    with run_as(session.actor()):
        core().retrievals.keep_days(days)
    reads.forget_retrievals()


def flush_usage() -> bool:
    """Try again to write the rows that wait on disk; False where some still wait."""
    require(session.actor(), "record_usage")
    done = core().usage.recorder.flush(5.0)
    reads.forget_usage()
    return done
