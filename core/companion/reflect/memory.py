"""Facts in the database: learned daily from events, judged by people, forgotten when nothing speaks for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from core.access import require
from core.clock import Clock
from core.companion.contract import Extractor, Module
from core.companion.reflect.extractors import LOOK_BACK_DAYS, extract
from core.companion.reflect.facts import FORGOTTEN, SHOWN_FROM, Fact, Learned, confidence, fact_of, opposite
from core.companion.reflect.pattern import Pattern, read_pattern
from core.db.client import Database
from core.errors import InputError
from core.events.actor import Actor, system
from core.events.emitter import Events
from core.events.event import Event

VERDICTS = ("confirmed", "contradicted", "deleted", "restored")


class Facts:
    """Thread-safe; one per process. Source: companion_facts."""

    def __init__(self, db: Database, events: Events, clock: Clock, zone: ZoneInfo, modules: Sequence[Module]) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._zone = zone
        self._rows = [(module.name, row) for module in modules for row in module.extractors]

    def list(self, least: float = SHOWN_FROM) -> tuple[Fact, ...]:
        """Those at least so sure, surest first. Errors: DatabaseError."""
        now = self._clock.now()
        found = [fact_of(row, now) for row in self._db.rpc("companion_fact_list", {}, read=True, returns=list)]
        return tuple(sorted((f for f in found if f.confidence >= least), key=lambda f: (-f.confidence, f.fact_key)))

    def learn(self, learned: Learned, *, actor: Actor | None = None) -> str:
        """Learn or confirm, as `actor`, else as the product itself; contradicts instead where the stored one says the
        opposite. The outcome as one word: learned, confirmed, same or contradicted. Errors: DatabaseError."""
        known = next((fact for fact in self.list(0.0) if fact.fact_key == learned.fact_key), None)
        if known is not None and opposite(known.measured, learned.measured):
            self._judge(known, "contradicted", system("projection"), by_rule=True)
            return "contradicted"
        now = self._clock.now()
        event = self._event(
            "FactLearned",
            actor or system("projection"),
            fact_key=learned.fact_key,
            category=learned.category,
            status="learned",
            origin=learned.origin,
            confidence=confidence(1, 0, now, now),
        )
        fact = {
            "fact_key": learned.fact_key,
            "category": learned.category,
            "content": learned.content,
            "measured": dict(learned.measured),
            "source_modules": list(learned.source_modules),
            "source_events": list(learned.source_events),
            "origin": learned.origin,
        }
        params = {"p_fact": fact, "p_now": now.isoformat(), "p_day": self._today().isoformat(), "p_event": event.row()}
        outcome = str(self._db.rpc("companion_fact_learn", params, read=False, returns=dict)["outcome"])
        if outcome == "learned":
            self._events.announce(event)
        return outcome

    def judge(self, actor: Actor, fact: Fact, verdict: str) -> bool:
        """A person confirms, contradicts, deletes or restores; False where that was so already.

        Errors: Forbidden, InputError, DatabaseError.
        """
        require(actor, "judge_facts")
        if verdict not in VERDICTS:
            raise InputError("A fact is confirmed, contradicted, deleted or restored.", field="verdict")
        return self._judge(fact, verdict, actor, by_rule=False)

    def reflect(self) -> dict[str, int]:
        """The daily look at every row of every module, and the forgetting; outcomes with their number."""
        done: dict[str, int] = {}
        for module, row in self._rows:
            learned = self._look(module, row)
            if learned is not None:
                outcome = self.learn(learned)
                done[outcome] = done.get(outcome, 0) + 1
        done["forgotten"] = self.decay()
        return done

    def decay(self) -> int:
        """Forget what is less sure than 0.1 or has expired; a second time finds none. How many."""
        now = self._clock.now()
        weak = [f for f in self.list(0.0) if f.confidence < FORGOTTEN or (f.expires_at and f.expires_at <= now)]
        return sum(self._judge(fact, "deleted", system("projection"), by_rule=True) for fact in weak)

    def _look(self, module: str, row: Extractor) -> Learned | None:
        today = self._today()
        then = self._pattern(row.then, {}, today) if row.then else None
        return extract(row, module, self._pattern(row.event, row.where, today), today, then)

    def _pattern(self, event: str, where: Mapping[str, str], today: date) -> Pattern:
        since = today - timedelta(days=LOOK_BACK_DAYS - 1)
        return read_pattern(self._db, event, where, since, today, self._zone.key)

    def _judge(self, fact: Fact, verdict: str, actor: Actor, *, by_rule: bool) -> bool:
        now = self._clock.now()
        after = confidence(
            fact.confirmations + (verdict == "confirmed"),
            fact.contradictions + (verdict == "contradicted"),
            now if verdict == "confirmed" else fact.last_confirmed,
            now,
        )
        event = self._event(
            "FactJudged", actor, fact_id=fact.id, fact_key=fact.fact_key, verdict=verdict, confidence=after
        )
        params: dict[str, Any] = {"p_id": fact.id, "p_verdict": verdict, "p_now": now.isoformat()}
        params |= {"p_day": self._today().isoformat(), "p_by_rule": by_rule, "p_event": event.row()}
        answer = self._db.rpc("companion_fact_judge", params, read=False, returns=dict)
        if answer["outcome"] == "unchanged":
            return False
        self._events.announce(event)
        return True

    def _event(self, type: str, actor: Actor, **payload: Any) -> Event:
        return self._events.prepare(
            type, payload, actor=actor, record_id=payload.get("fact_id"), collection="companion_facts"
        )

    def _today(self) -> date:
        moment: datetime = self._clock.now()
        return moment.astimezone(self._zone).date()
