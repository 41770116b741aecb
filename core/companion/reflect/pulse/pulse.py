"""The engine of the rules: what is due is looked at once, by one process, and used up only once it was looked at."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import Nudge, OnEvent, Rule, RuleContext
from core.companion.reflect.pulse.learning import lowered
from core.companion.reflect.pulse.look import Sources, look
from core.companion.reflect.pulse.nudges import Nudges
from core.companion.reflect.pulse.slots import RuleState, slot_of
from core.companion.reflect.pulse.store import PulseStore
from core.errors import CoreError
from core.events.actor import run_as, system
from core.events.emitter import Events
from core.events.event import Event

log = logging.getLogger(__name__)

EVERY_S = 30.0


@dataclass(frozen=True)
class Stepped:
    """What a step did: rules looked at, nudges said, failures (their slots stay), nudges gone by themselves."""

    looked: int = 0
    said: int = 0
    failed: int = 0
    gone: int = 0


class Pulse:
    """Thread-safe; one per process. `told` hears of each nudge that is new."""

    def __init__(
        self,
        store: PulseStore,
        nudges: Nudges,
        events: Events,
        clock: Clock,
        zone: ZoneInfo,
        rules: Sequence[Rule],
        sources: Sources,
        *,
        told: Callable[[Nudge], None] = lambda _: None,
    ) -> None:
        self.rules = {rule.id: rule for rule in rules}
        self._store = store
        self._nudges = nudges
        self._events = events
        self._clock = clock
        self._zone = zone
        self._sources = sources
        self._told = told
        self._waking: dict[str, list[Rule]] = {}
        for rule in self.rules.values():
            for type in rule.trigger.types if isinstance(rule.trigger, OnEvent) else ():
                self._waking.setdefault(type, []).append(rule)
        self._failing: set[tuple[str, str]] = set()

    def step(self) -> Stepped:
        """Look at every rule that is due now, then at what is shown. Errors: DatabaseError while reading the states."""
        with run_as(system("rule")):
            now = self._clock.now()
            gone = self._nudges.expire()
            states = self._store.states()
            context = look(self._sources, self._store, now, self._zone)
            looked = said = failed = 0
            for rule in self.rules.values():
                state = states.get(rule.id, RuleState(rule.id))
                slot = slot_of(rule.trigger, state, now, self._zone) if state.enabled else None
                if slot is None:
                    continue
                new = self._slot(rule, state, slot, context, now)
                looked += 1
                if new is None:
                    failed += 1
                else:
                    said += new
            return Stepped(looked, said, failed, gone + self._settle(context, now))

    def look_at(self, rules: Sequence[str]) -> int:
        """Look at these rules now, whatever their time, without using up a slot; how many nudges are new.

        Errors: DatabaseError.
        """
        with run_as(system("rule")):
            now = self._clock.now()
            context, states = look(self._sources, self._store, now, self._zone), self._store.states()
            said = 0
            for rule in (self.rules[id] for id in rules if id in self.rules):
                if not self._incomplete(rule, context):
                    state = states.get(rule.id, RuleState(rule.id))
                    said += self._say(rule, state, None, _given(rule.check(context)), now)
            return said

    def hear(self, event: Event) -> None:
        """The handler of every event: rules that it wakes are looked at now."""
        woken = self._waking.get(event.type)
        if not woken:
            return
        now = self._clock.now()
        context = look(self._sources, self._store, now, self._zone, event)
        with run_as(system("rule")):
            try:
                states = self._store.states()
            except CoreError as error:
                log.info("the rules that an event wakes were not looked at: %s", error.code)
                return
            for rule in woken:
                state = states.get(rule.id, RuleState(rule.id))
                if not state.enabled:
                    continue
                try:
                    nudges = None if self._incomplete(rule, context) else _given(rule.check(context))
                    if nudges:
                        self._say(rule, state, None, nudges, now)
                except Exception as fault:
                    self._note(rule, event.meta.id, fault)

    def _slot(self, rule: Rule, state: RuleState, slot: str, context: RuleContext, now: datetime) -> int | None:
        """New nudges; None where the slot was not used up: a failure, or a day without a section it needs."""
        held = False
        try:
            if self._incomplete(rule, context):
                return None
            held = self._store.claim(rule.id, slot, state.last_slot, now)
            if not held:
                return 0
            return self._say(rule, state, slot, _given(rule.check(context)), now)
        except Exception as fault:
            self._note(rule, slot, fault)
            if held:
                self._give_back(rule, slot, now)
            return None

    def _say(self, rule: Rule, state: RuleState, slot: str | None, nudges: Sequence[Nudge], now: datetime) -> int:
        demoted = state.demoted and rule.learnable
        if demoted:
            nudges = nudges[:1] if not self._said_today(state, now) else ()
        meant = [replace(n, priority=lowered(n.priority, demoted=demoted)) for n in nudges]
        new = set(self._store.done(rule.id, slot, now, meant))
        for nudge in (n for n in meant if n.id in new):
            payload = {"nudge_id": nudge.id, "rule_id": rule.id, "type": nudge.type, "module": nudge.module}
            self._events.emit("NudgeShown", {**payload, "priority": nudge.priority}, record_id=nudge.id)
            self._told(nudge)
        return len(new)

    def _settle(self, context: RuleContext, now: datetime) -> int:
        """Nudges whose condition is gone."""
        gone = 0
        for nudge in self._store.open(now):
            rule = self.rules.get(nudge.rule_id)
            if rule is None or rule.resolves is None:
                continue
            try:
                if not self._incomplete(rule, context) and rule.resolves(context, nudge.id):
                    gone += self._nudges.resolve(nudge, "auto_resolved", system("rule"))
            except Exception as fault:
                self._note(rule, nudge.id, fault)
        return gone

    def _incomplete(self, rule: Rule, context: RuleContext) -> bool:
        return bool(rule.needs) and bool(set(rule.needs) & set(context.day.get("errors", {})))

    def _said_today(self, state: RuleState, now: datetime) -> bool:
        last = state.last_nudge_at
        return last is not None and last.astimezone(self._zone).date() == now.astimezone(self._zone).date()

    def _give_back(self, rule: Rule, slot: str, now: datetime) -> None:
        try:
            self._store.done(rule.id, slot, now, (), used=False)
        except CoreError:
            log.info("the slot of %s stays taken until its lease ends", rule.id)

    def _note(self, rule: Rule, what: str, fault: Exception) -> None:
        """Once per slot: it is tried again every half minute. The message may hold text, the type does not."""
        if (rule.id, what) not in self._failing:
            if len(self._failing) > 1000:
                self._failing.clear()
            self._failing.add((rule.id, what))
            log.error("the rule %s failed: %s", rule.id, type(fault).__name__)


def _given(found: Nudge | Sequence[Nudge] | None) -> Sequence[Nudge]:
    if found is None:
        return ()
    return (found,) if isinstance(found, Nudge) else tuple(found)
