"""What the Access page changes: each once, as the one who is here; what goes wrong is said above. For callbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from core.access.desk import AccessDesk, OwnRole
from core.events import run_as
from pages._shared import formats, reads, session
from pages._shared.access import who
from pages._shared.operations import outcome
from pages._shared.resources import core

T = TypeVar("T")
SURE = "access-sure"  # whether somebody has to say that they mean their own role


def set_rule(value: str, roles: Sequence[str], sure: bool) -> bool:
    """Whether it holds now."""

    def act(desk: AccessDesk) -> bool:
        changed = desk.set_rule(value, roles, sign_in=who.sign_in(), me=who.claims(), sure=sure)
        outcome.say("done" if changed else "note", "The rule holds." if changed else "This rule stood there already.")
        return True

    return bool(_attempt("Role", act))


def drop_rule(id: str, sure: bool) -> None:
    def act(desk: AccessDesk) -> None:
        desk.drop_rule(id, sign_in=who.sign_in(), me=who.claims(), sure=sure)
        outcome.say("done", "The rule is dropped.")

    _attempt("Role", act)


def create_token(name: str, roles: Sequence[str], days: int | None, reason: str | None) -> tuple[str, str] | None:
    """The id and the whole token, or None where it was refused."""

    def act(desk: AccessDesk) -> tuple[str, str]:
        token, secret = desk.create_token(name, roles, days=days, reveal_reason=reason)
        return token.id, secret

    return _attempt("API token", act)


def revoke_token(id: str) -> None:
    def act(desk: AccessDesk) -> None:
        desk.revoke_token(id)
        outcome.say("done", "The token opens nothing any more.")

    _attempt("API token", act)


def end_sessions(principal_id: str) -> None:
    def act(desk: AccessDesk) -> None:
        ended = desk.end_sessions(principal_id)
        outcome.say("done", f"{formats.plural(ended, 'session')} ended: they have to sign in again.")

    _attempt("Sessions", act)


def _attempt(what: str, act: Callable[[AccessDesk], T]) -> T | None:
    st.session_state.pop(SURE, None)

    def done() -> T:
        try:
            with run_as(session.actor()):
                return act(core().access_desk)
        except OwnRole:
            st.session_state[SURE] = True
            raise

    try:
        return outcome.attempt(what, done)
    finally:
        reads.refresh()  # roles may be lower now: nothing that was read under the old ones stands
