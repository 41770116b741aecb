"""What an AI proposes, to approve or to reject: on the page of its module, and all of it on Workbench."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from core.companion.act.proposal_store import Proposal
from core.companion.act.toolbox import dialogs_of
from core.companion.contract import ModuleTool
from core.errors import CoreError
from pages._shared import formats
from pages._shared.companion import deciding, seen
from pages._shared.feedback import boundary
from pages._shared.literal import literal, words
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.resources import core
from pages._shared.sitemap import place
from pages._shared.zone import my_zone

# A proposal is nothing that is: its card has a dashed edge. Keys and texts are broken where the card ends.
DASHED = """<style>div[class*='st-key-proposal-'] {
border: 1.5px dashed color-mix(in srgb, currentColor 45%, transparent) !important; }
div[class*='st-key-proposal-'] [data-testid="stText"] { white-space: pre-wrap; overflow-wrap: anywhere; }
</style>"""
COLOURS = {"pending": "orange", "approved": "green", "rejected": "red", "expired": "gray"}
MANY = 3  # cards of a module's own page; the rest is one click away
LONG = 300


@only("companion")
def show(module: str | None) -> None:
    """The proposals of one module that wait, in its page; draws nothing where there is none."""
    with boundary("The proposals"):
        said = bool(st.session_state.get(outcome.SAID))
        try:
            read = deciding.proposals("open", None if module is None else (module,), None)
        except CoreError:
            return  # the page's own data has the same fate, and says so
        if said:
            outcome.show()
        if not read.value.rows:
            return
        cards(read.value.rows[:MANY], read.at, with_module=module is None)
        if read.value.total > MANY:
            more = formats.plural(read.value.total - MANY, "more proposal waits", "more proposals wait")
            st.page_link(place("workbench").path, label=f"{more} on Workbench", icon=place("workbench").icon)


def cards(rows: tuple[Proposal, ...], now: datetime, *, with_module: bool) -> None:
    st.html(DASHED)
    for proposal in rows:
        card(proposal, now, with_module=with_module)


def card(proposal: Proposal, now: datetime, *, with_module: bool) -> None:
    """Who, what, why, until when; and what can be done about it."""
    tool = core().companion.act.toolbox.find(proposal.tool_name)
    label = tool.label if tool else proposal.tool_name
    with st.container(border=True, gap="small", key=f"proposal-{proposal.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(_state(proposal), color=_colour(proposal))  # type: ignore[arg-type]
            if with_module:
                st.badge(proposal.module, color="gray")
            st.markdown(f"**{literal(label) if tool is None else label}**")
        st.caption(
            f"{words(proposal.actor.display_name)} proposes this {formats.ago(proposal.created_at, now)}"
            f"{_until(proposal, now)}",
            help=f"Mission {literal(proposal.mission_id)}, iteration {literal(proposal.iteration_id)}.",
        )
        plain = seen.shower(proposal.module, dialogs(tool, proposal.params))
        for name, value in parameters(tool, proposal.params):
            _line(name, plain(value))
        _line("why", plain(proposal.rationale))
        _result(proposal, plain)
        _buttons(proposal, label, now)


def parameters(tool: ModuleTool | None, params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The arguments that are not empty, by name, in the order of the tool, as text."""
    order = [p.name for p in tool.parameters] if tool else []
    names = [*(name for name in order if name in params), *(name for name in params if name not in order)]
    return [(name.replace("_", " "), _plain(params[name])) for name in names if params[name] not in (None, "", [], {})]


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:,}"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONG else f"{text[:LONG]}… ({len(text):,} characters)"


def _state(proposal: Proposal) -> str:
    if proposal.status == "approved":
        return "done" if proposal.succeeded else "failed" if proposal.result else "running"
    return "proposed" if proposal.status == "pending" else proposal.status


def _colour(proposal: Proposal) -> str:
    if proposal.status == "approved" and not proposal.succeeded:
        return "red" if proposal.result else "blue"
    return COLOURS[proposal.status]


def _until(proposal: Proposal, now: datetime) -> str:
    if proposal.status != "pending" or proposal.expires_at is None:
        return ""
    left = formats.ago(proposal.expires_at, now).removesuffix(" from now")
    return f" · expires in {left}, {formats.moment(proposal.expires_at, my_zone())[:16]}"


def dialogs(tool: ModuleTool | None, params: Mapping[str, Any]) -> list[str]:
    """The dialogs that a call is about, by its arguments."""
    try:
        return dialogs_of(tool, params) if tool else []
    except Exception:  # arguments of another version of the tool
        return []


def _result(proposal: Proposal, plain: Callable[[str], str]) -> None:
    if proposal.result is not None:
        _line("result", plain(str(proposal.result.get("message") or "")))
    if proposal.feedback:
        _line("reason", plain(proposal.feedback))


def _line(label: str, value: str) -> None:
    """A grey label, and somebody's text beside it as it is."""
    with st.container(horizontal=True, gap="small"):
        st.caption(label, width=72)
        st.text(value, width="stretch")


@only("decide_proposals")
def _buttons(proposal: Proposal, label: str, now: datetime) -> None:
    asked = (proposal.id, label)
    if proposal.status == "pending":
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Approve",
                key=f"approve-{proposal.id}",
                type="primary",
                icon=":material/check:",
                on_click=deciding.approve,
                args=asked,
                help="Runs it now, once, in the name of the AI that proposes it.",
            )
            with st.popover("Reject", icon=":material/close:"):
                st.text_input("Why, for its next plan (may be empty)", key=f"reason-{proposal.id}", max_chars=2000)
                st.button("Reject it", key=f"reject-{proposal.id}", on_click=deciding.reject, args=asked)
    elif proposal.may_retry(now):
        st.button(
            "Run it again", key=f"retry-{proposal.id}", icon=":material/replay:", on_click=deciding.retry, args=asked
        )
