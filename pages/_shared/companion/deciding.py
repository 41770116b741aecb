"""What a page reads and decides of proposals. Each decision acts once through core, as the one who is here."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.bootstrap import Core
from core.companion.act.proposal_store import Proposal, ProposalPage, State
from core.events import run_as
from pages._shared import reads, session
from pages._shared.operations import outcome
from pages._shared.reads import Read
from pages._shared.resources import core

PAGE = 20


def proposals(state: State, modules: tuple[str, ...] | None, mission: str | None, page: int = 1) -> Read[ProposalPage]:
    """One page of proposals, newest first. Errors: CoreError."""
    key = (state, modules, mission, page)
    return reads.standing(("proposals", *key), lambda: _proposals(core(), *key))


@st.cache_data(
    ttl=3, max_entries=64, show_spinner=False
)  # asked on every run of every module page; a decision clears it
def _proposals(
    _core: Core, state: State, modules: tuple[str, ...] | None, mission: str | None, page: int
) -> Read[ProposalPage]:
    found = _core.companion.act.proposals.list(
        state, modules=modules, mission_id=mission, limit=PAGE, offset=(page - 1) * PAGE
    )
    return Read(found, _core.clock.now())


def approve(id: str, what: str) -> None:
    """A callback."""
    _decide(f"Approve {what}", partial(core().companion.act.proposals.approve, id))


def retry(id: str, what: str) -> None:
    """A callback."""
    _decide(f"Run {what} again", partial(core().companion.act.proposals.retry, id))


def reject(id: str, what: str) -> None:
    """A callback; the reason is what stands in its field."""
    reason = str(st.session_state.get(f"reason-{id}") or "")
    _decide(f"Reject {what}", partial(core().companion.act.proposals.reject, id, reason))


def forget() -> None:
    """After something else changed them."""
    _proposals.clear()


def _decide(what: str, act: partial[Proposal]) -> None:
    try:
        with run_as(session.actor()):
            done = outcome.attempt(what, act)
    finally:
        _proposals.clear()
        reads.forget_dialogs()  # the tool may have changed anything
    if done is None:
        return
    if done.status == "rejected":
        outcome.say("done", f"{what}: rejected. Nothing was run.")
    elif done.succeeded:
        outcome.say("done", f"{what}: {(done.result or {}).get('message') or 'done.'}")
    else:
        outcome.say("error", f"{what}: it was approved, and its run failed: {(done.result or {}).get('message')}")
