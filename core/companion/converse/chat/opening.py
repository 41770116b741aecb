"""The parts of the chat, joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.companion.act.act import Act
from core.companion.contract import Module
from core.companion.converse.chat.answering import Answering
from core.companion.converse.chat.chat import Chat
from core.companion.converse.chat.store import ChatStore
from core.companion.converse.llm.router import Router
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.figures import RangeFigures
from core.companion.converse.rules_tier.rules import RulesTier
from core.companion.reflect.opening import Reflection

if TYPE_CHECKING:
    from core.companion.deps import Deps

HEALTH_AGE_S = 90.0  # as the day's own section


def open_rules(
    deps: Deps, modules: Sequence[Module], reflection: Reflection, act: Act, figures: RangeFigures
) -> RulesTier:
    """The tier without a model. Connects to nothing."""
    read = reflection.sources
    return RulesTier(
        Sources(
            clock=deps.clock,
            zone=deps.zone,
            modules=modules,
            day=read.day,
            goals=read.goals,
            streaks=read.streaks,
            facts=read.facts,
            correlations=read.correlations,
            figures=figures,
            usage=deps.usage.reports,
            dialogs=deps.dialogs,
            health=lambda: deps.health.report(max_age_s=HEALTH_AGE_S),
            proposals=act.proposals,
        )
    )


def open_chat(deps: Deps, reflection: Reflection, act: Act, router: Router, rules: RulesTier) -> Chat:
    """Connects to nothing."""
    answering = Answering(router, act, rules, lambda: reflection.context(for_model=True))
    return Chat(ChatStore(deps.db), answering, deps.events, deps.clock, router.why_not)
