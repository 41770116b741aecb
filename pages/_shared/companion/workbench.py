"""The parts of Workbench: which proposals, those that wait as cards, those that were decided as a list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from core.companion.act.policy import PolicySet
from core.companion.act.proposal_store import Proposal, ProposalPage
from core.companion.contract import ModuleTool
from pages._shared import address, formats, layout, session, tables
from pages._shared.companion import deciding, inbox
from pages._shared.feedback import empty
from pages._shared.layout import Figure, panel
from pages._shared.reads import Read
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

VIEWS = {"waiting": "Waiting", "decided": "Decided", "timeline": "Timeline", "budget": "Budget"}
MISSION = "workbench-mission"
COLUMNS = (
    Column("decided_at", "Decided", "when"),
    Column("decision", "Decision"),
    Column("tool", "What", width=170),
    Column("params", "With", width=230),
    Column("why", "Why", width=230),
    Column("result", "Result, or reason", width=260),
    Column("by", "Proposed by"),
    Column("decider", "Decided by"),
)
FIELDS = ("id", "decided_at", "decision", "module", "tool", "params", "why", "result", "by", "decider", "created_at")
POLICIES = (
    Column("label", "Tool", width=210),
    Column("module", "Part"),
    Column("policy", "An AI"),
    Column("kind", "What it does"),
    Column("content", "What it tells"),
    Column("description", "In words", width=420),
)
WORDS = {"auto": "may", "propose": "asks first", "deny": "may not"}


@dataclass(frozen=True)
class Choice:
    view: str
    module: str | None
    mission: str | None


def choose() -> Choice:
    """The filters, drawn; a mission's id is kept out of the address."""
    view = address.segments("Workbench", VIEWS, "view", default="waiting", labelled=False)
    if view == "budget":
        return Choice(view, None, None)
    modules = {module.name: module.label for module in core().companion.modules}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = {"any": "any part", **modules}
        module = address.select("Part of the product", words, "part", default="any", width=220)
        st.session_state.setdefault(MISSION, session.remembered(MISSION, ""))
        mission = st.text_input("Mission", key=MISSION, placeholder="the whole id", width=260)
        session.remember(MISSION, mission)
    return Choice(view, None if module == "any" else module, (mission or "").strip() or None)


def read(choice: Choice) -> Read[ProposalPage]:
    state: Any = "open" if choice.view == "waiting" else "decided"
    modules = (choice.module,) if choice.module else None
    return deciding.proposals(state, modules, choice.mission, session.page_number(f"{choice.view}-page"))


def figures() -> None:
    """Over all parts and missions."""
    waiting = deciding.proposals("pending", None, None).value.total
    opened = deciding.proposals("open", None, None).value.total
    decided = deciding.proposals("decided", None, None).value.total
    layout.figures(
        Figure("Waiting", formats.count(waiting), "Proposals that somebody has to approve or reject."),
        Figure("To look at", formats.count(opened - waiting), "Approved, and their run failed or is not over."),
        Figure("Decided", formats.count(decided), "Approved, rejected, or expired before anybody decided."),
    )


def waiting(choice: Choice, found: Read[ProposalPage]) -> None:
    if not found.value.rows:
        if choice.module or choice.mission:
            st.text("No proposal of these waits.")
        else:
            empty(
                "Nothing waits for you",
                "What an AI may not do by itself it proposes, and it stands here until somebody decides. Below is "
                "what that is.",
            )
        return
    inbox.cards(found.value.rows, found.at, with_module=True)
    _turn(found.value.total, "waiting-page")


def decided(choice: Choice, found: Read[ProposalPage]) -> None:
    with panel("Decided proposals", "Newest first. Each names what was asked, and what became of it."):
        if not found.value.rows:
            st.text("No proposal was decided yet.")
            return
        rows = [row(proposal) for proposal in found.value.rows]
        tables.show(rows, COLUMNS, key="decided", zone=my_zone_name(), height="content")
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            _turn(found.value.total, "decided-page")
            tables.downloads(rows, FIELDS, name="proposals", key="proposals-file")


def row(proposal: Proposal) -> dict[str, Any]:
    """A line of the list, and of its file."""
    tool = core().companion.act.toolbox.find(proposal.tool_name)
    params = "; ".join(f"{name}: {value}" for name, value in inbox.parameters(tool, proposal.params))
    word: str = proposal.status if proposal.status != "pending" else "expired"
    if proposal.status == "approved":
        word = "done" if proposal.succeeded else "failed" if proposal.result else "running"
    return {
        "id": proposal.id,
        "decided_at": proposal.decided_at or proposal.expires_at,
        "decision": word,
        "module": proposal.module,
        "tool": tool.label if tool else proposal.tool_name,
        "params": params,
        "why": proposal.rationale,
        "result": (proposal.result or {}).get("message") or proposal.feedback,
        "by": proposal.actor.display_name,
        "decider": (proposal.decider or {}).get("display_name"),
        "created_at": proposal.created_at,
    }


def policy() -> None:
    """Every tool there is, and what the policy says of it."""
    tools = core().companion.act.toolbox.all()
    if not tools:
        st.text("There is no tool.")
        return
    found = core().companion.act.policies.current()
    st.caption("Whoever sits here may do all of it. For an AI each tool has a rule; a person's yes is asked above.")
    rows = [_rule(found, tool) for tool in tools]
    tables.show(rows, POLICIES, key="policy", zone="UTC")
    tables.downloads(rows, [c.field for c in POLICIES], name="tools", key="policy-file")


def _rule(found: PolicySet, tool: ModuleTool) -> dict[str, str]:
    return {
        "label": tool.label,
        "module": tool.module,
        "policy": WORDS[found.decide(tool)],
        "kind": "reads" if tool.read_only else "changes, can be undone" if tool.reversible else "changes",
        "content": "nothing personal to a model" if tool.content_class == "sensitive" else tool.content_class,
        "description": tool.description,
    }


def _turn(total: int, key: str) -> None:
    pages = -(-total // deciding.PAGE)
    if pages > 1:
        st.pagination(pages, key=key, bind="query-params", width=280)
