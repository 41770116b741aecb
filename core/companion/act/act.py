"""The acting wing: toolbox, policy, executor and proposals, joined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.clock import Clock
from core.companion.act.executor import Executor
from core.companion.act.policy import Policies
from core.companion.act.proposal_store import ProposalStore
from core.companion.act.proposals import Proposals
from core.companion.act.toolbox import Toolbox
from core.companion.contract import Module
from core.companion.settings import CompanionSettings
from core.db.client import Database
from core.events.emitter import Events


@dataclass(frozen=True)
class Act:
    """One per process, thread-safe."""

    toolbox: Toolbox
    policies: Policies
    executor: Executor
    proposals: Proposals


def open_act(db: Database, events: Events, clock: Clock, settings: CompanionSettings, modules: Iterable[Module]) -> Act:
    """The wing over the tools of these modules. Connects to nothing."""
    toolbox = Toolbox(tool for module in modules for tool in module.tools)
    policies = Policies(settings, events)
    executor = Executor(toolbox, policies, events, lambda tool, params, actor: proposals.stage(tool, params, actor))
    proposals = Proposals(ProposalStore(db), toolbox, policies, events, clock, executor.run)
    return Act(toolbox, policies, executor, proposals)
