"""The acting wing: toolbox, policy, executor and proposals, joined."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from core.clock import Clock
from core.companion.act.executor import Executor
from core.companion.act.policy import Policies
from core.companion.act.proposal_store import ProposalStore
from core.companion.act.proposals import Proposals
from core.companion.act.revert import Reverts
from core.companion.act.timeline import Timeline
from core.companion.act.toolbox import Toolbox
from core.companion.contract import Module
from core.companion.settings import CompanionSettings
from core.db.client import Database
from core.events.emitter import Events
from core.services.known import KnownPeople


@dataclass(frozen=True)
class Act:
    """One per process, thread-safe."""

    toolbox: Toolbox
    policies: Policies
    executor: Executor
    proposals: Proposals
    timeline: Timeline
    reverts: Reverts
    people: KnownPeople


def open_act(db: Database, events: Events, clock: Clock, settings: CompanionSettings, modules: Iterable[Module]) -> Act:
    """The wing over the tools of these modules. Connects to nothing."""
    modules = tuple(modules)
    toolbox = Toolbox(tool for module in modules for tool in module.tools)
    policies = Policies(settings, events)
    executor = Executor(toolbox, policies, events, lambda tool, params, actor: proposals.stage(tool, params, actor))
    proposals = Proposals(ProposalStore(db), toolbox, policies, events, clock, executor.run)
    timeline = Timeline(db)
    inverses = {type: inverse for module in modules for type, inverse in module.inverses.items()}
    reverts = Reverts(db, events, clock, timeline, inverses)
    return Act(toolbox, policies, executor, proposals, timeline, reverts, KnownPeople(db))
