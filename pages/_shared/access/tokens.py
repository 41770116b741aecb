"""API tokens: a new one, whose secret is shown once; and those there are, to be revoked."""

from __future__ import annotations

import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, get_args

import streamlit as st

from core.access import Role, who_may
from core.access.tokens import DAYS, DEFAULT_DAYS, NAME_LIMIT, REASON, ApiToken
from pages._shared import session, tables
from pages._shared.access import acting
from pages._shared.examples import base_url
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.resources import core, settings
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

MADE = "desk.access.made"
SHOWN_S = 300.0
FIELDS = ("name", "state", "roles", "sees", "last_used", "expires", "created", "by", "id")


def show() -> None:
    _made()
    with panel("New token", "For one program each, so that one can be revoked alone."):
        _form()
    found = core().access_desk.tokens()
    with panel("Tokens", "Only their hashes are stored. The last use is written at most once a minute."):
        _list(found, core().clock.now())


def _made() -> None:
    """The secret, until somebody has it or five minutes are over; it is kept in this tab's session alone."""
    id, secret, at = st.session_state.get(MADE, ("", "", 0.0))
    if not secret or time.monotonic() - at > SHOWN_S:
        st.session_state.pop(MADE, None)
        return
    with panel(f"Token {id}", "Copy it now: it is not shown again.", key="access-made"):
        st.code(secret, language=None, wrap_lines=True)
        st.caption("With it in the variable MEMORY_DESK_TOKEN, so that no history of a shell keeps it:")
        line = f'curl -H "Authorization: Bearer $MEMORY_DESK_TOKEN" {base_url(settings())}/health'
        st.code(line, language=None, wrap_lines=True)
        st.button("I have it", key="access-made-done", on_click=_done)


def _done() -> None:
    st.session_state.pop(MADE, None)


def _form() -> None:
    left, right = st.columns(2)
    left.text_input("Name", key="token-name", max_chars=NAME_LIMIT, placeholder="Nightly import")
    forever = bool(st.session_state.get("token-forever"))
    right.number_input("Days until it expires", 1, DAYS, DEFAULT_DAYS, key="token-days", disabled=forever)
    right.checkbox("It does not expire", key="token-forever")
    roles = st.pills("Roles", get_args(Role), selection_mode="multi", default=["viewer"], key="token-roles")
    may = not set(roles or []).isdisjoint(who_may("reveal"))
    st.text_input(
        "Reason to see personal data",
        key="token-reason",
        max_chars=REASON[1],
        disabled=not may,
        placeholder="Leave empty: its answers are masked",
        help="With a reason all its answers are unmasked. Only where its roles may see personal data.",
    )
    st.button("Create", key="token-create", type="primary", on_click=_create, args=(may,))


def _create(may: bool) -> None:
    state = st.session_state
    made = acting.create_token(
        state["token-name"] or "",
        state["token-roles"] or [],
        None if state["token-forever"] else int(state["token-days"]),
        (state["token-reason"] or None) if may else None,
    )
    if made is not None:
        state[MADE] = (*made, time.monotonic())
        state["token-name"] = state["token-reason"] = ""


def _list(found: Sequence[ApiToken], now: datetime) -> None:
    if settings().api_token is not None:
        st.text("From the environment: MEMORY_DESK_API_TOKEN, every role, unmasked, does not expire.")
    if not found:
        every = settings().api_token is not None or session.sign_in_configured()
        empty("No token yet", "Every program needs one." if every else "Programs on this machine need none so far.")
        return
    rows = [_row(token, now) for token in found]
    columns = (
        Column("name", "Name", pinned=True, width=180),
        Column("state", "State", width=80),
        Column("roles", "Roles", width=150),
        Column("sees", "Sees", width=160),
        Column("last_used", "Last use", "when"),
        Column("expires", "Expires", "when"),
        Column("created", "Made", "when"),
        Column("by", "By", width=130),
        Column("id", "Id", width=100),
    )
    chosen = tables.show(rows, columns, key="access-tokens", zone=my_zone_name(), select=True)
    tables.downloads(rows, FIELDS, name="api-tokens", key="access-tokens-file")
    if chosen is None:
        st.caption("Choose a token to revoke it.")
        return
    token = found[chosen]
    st.text(f"{token.name} ({token.id})")
    if token.revoked_at is not None:
        st.text("It is revoked already.")
        return
    with st.popover("Revoke"):
        st.text("It opens nothing from then on. That cannot be taken back: a program that needs one gets a new one.")
        st.button("Revoke it", key="token-revoke", type="primary", on_click=acting.revoke_token, args=(token.id,))


def _row(token: ApiToken, now: datetime) -> dict[str, Any]:
    return {
        "name": token.name,
        "state": token.state(now),
        "roles": ", ".join(sorted(token.roles)),
        "sees": f"unmasked: {token.reveal_reason}" if token.reveal_reason else "masked",
        "last_used": token.last_used_at,
        "expires": token.expires_at,
        "created": token.created_at,
        "by": token.created_by,
        "id": token.id,
    }
