"""The rules tier: a question in words -> an answer from live data, without any model."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.companion.converse.rules_tier import day, desk_state, mind, money
from core.companion.converse.rules_tier.answer import SUGGESTIONS, RuleAnswer
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.intents import Intent, Name, intent_of

KNOWN: Mapping[Name, Callable[[Sources, Intent], RuleAnswer]] = {
    "today": day.today,
    "due": day.due,
    "week": day.compared,
    "wrong": desk_state.wrong,
    "sync": desk_state.sync,
    "memory": desk_state.memory,
    "dialog": desk_state.dialog,
    "cost": money.cost,
    "goals": mind.goals,
    "streaks": mind.streaks,
    "proposals": mind.proposals,
    "patterns": mind.patterns,
}
UNKNOWN = "I cannot answer that without a model. I can answer these:"
HELP = "Without a model I answer questions like these, from live data and with the source of each figure:"


class RulesTier:
    """One per process, thread-safe. Always there: it needs no key and sends nothing."""

    def __init__(self, given: Sources) -> None:
        self._given = given

    def answer(self, text: str) -> RuleAnswer:
        """Errors: DatabaseError where the figures cannot be read; never for what is asked."""
        intent = intent_of(text)
        how = KNOWN.get(intent.name)
        if how is not None:
            return how(self._given, intent)
        return RuleAnswer(intent.name, HELP if intent.name == "help" else UNKNOWN, suggestions=SUGGESTIONS)
