"""What the answers to nudges teach, kept where everybody can see it and take it back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from core.access import require
from core.clock import Clock
from core.companion.contract import Rule
from core.companion.reflect.facts import Learned
from core.companion.reflect.memory import Facts
from core.companion.reflect.pulse.learning import Lesson, lesson
from core.companion.reflect.pulse.slots import RuleState
from core.companion.reflect.pulse.store import PulseStore, Stat
from core.events.actor import Actor, system
from core.events.emitter import Events

DAYS = 30


@dataclass(frozen=True)
class RuleView:
    """A rule, its state, and its outcomes of 30 days since the last reset."""

    rule: Rule
    state: RuleState
    acted: int
    total: int


class Feedback:
    """Thread-safe; one per process."""

    def __init__(self, store: PulseStore, facts: Facts, events: Events, clock: Clock, rules: Sequence[Rule]) -> None:
        self._store = store
        self._facts = facts
        self._events = events
        self._clock = clock
        self._rules = {rule.id: rule for rule in rules}

    def rules(self) -> tuple[RuleView, ...]:
        """Every rule, in the order of registration. Errors: DatabaseError."""
        states, stats = self._store.states(), self._stats()
        return tuple(
            RuleView(
                rule,
                states.get(rule.id, RuleState(rule.id)),
                sum(s.acted for s in stats if s.rule_id == rule.id),
                sum(s.total for s in stats if s.rule_id == rule.id),
            )
            for rule in self._rules.values()
        )

    def learn(self) -> int:
        """The daily look at the outcomes; how many rules changed. A second look changes nothing."""
        states, stats = self._store.states(), self._stats()
        changed = 0
        for rule in self._rules.values():
            hours = {
                hour: (
                    sum(s.acted for s in stats if (s.rule_id, s.hour) == (rule.id, hour)),
                    sum(s.total for s in stats if (s.rule_id, s.hour) == (rule.id, hour)),
                )
                for hour in {s.hour for s in stats if s.rule_id == rule.id}
            }
            found, state = lesson(rule, hours), states.get(rule.id, RuleState(rule.id))
            if (dict(found.hour_shift), found.demoted) != (dict(state.hour_shift), state.demoted):
                changed += self._note(rule, found)
            self._remember(rule, found)
        return changed

    def reset(self, actor: Actor, rule_id: str) -> bool:
        """Forget what was learned about a rule: the answers so far do not count any more.

        Errors: Forbidden, DatabaseError.
        """
        require(actor, "answer_nudges")
        total = sum(stat.total for stat in self._stats() if stat.rule_id == rule_id)
        event = self._events.prepare("LearningReset", {"rule_id": rule_id, "outcomes": total}, actor=actor)
        change = {"hour_shift": {}, "demoted": False, "learned_from": self._clock.now().isoformat()}
        done = self._store.change(rule_id, change, event)
        if done:
            self._events.announce(event)
            for fact in self._facts.list(0.0):
                if fact.fact_key.startswith(f"feedback:{rule_id}:"):
                    self._facts.judge(actor, fact, "deleted")
        return done

    def enable(self, actor: Actor, rule_id: str, enabled: bool) -> bool:
        """Switch a rule on or off. Errors: Forbidden, DatabaseError."""
        require(actor, "answer_nudges")
        payload = {"rule_id": rule_id, "source": "person", "enabled": enabled}
        event = self._events.prepare("RuleChanged", payload, actor=actor)
        done = self._store.change(rule_id, {"enabled": enabled}, event)
        if done:
            self._events.announce(event)
        return done

    def _note(self, rule: Rule, found: Lesson) -> bool:
        payload = {"rule_id": rule.id, "source": "learning", "hour_shift": max([0, *found.hour_shift.values()])}
        event = self._events.prepare("RuleChanged", payload, actor=system("rule"))
        done = self._store.change(rule.id, {"hour_shift": dict(found.hour_shift), "demoted": found.demoted}, event)
        if done:
            self._events.announce(event)
        return done

    def _remember(self, rule: Rule, found: Lesson) -> None:
        told = [
            (name, f"“{rule.name}” is seldom acted on at {name}; it comes {_hours(moved)} later.", {"moved_h": moved})
            for name, moved in found.hour_shift.items()
        ]
        told += [(name, f"“{rule.name}” is mostly acted on at {name}.", {"moved_h": 0}) for name in found.kept]
        for name, words, measured in told:
            key = f"feedback:{rule.id}:{name}"
            self._facts.learn(Learned(key, "preference", words, measured, (rule.module,), origin="feedback"))

    def _stats(self) -> tuple[Stat, ...]:
        return self._store.stats(self._clock.now() - timedelta(days=DAYS))


def _hours(number: int) -> str:
    return f"{number} {'hour' if number == 1 else 'hours'}"
