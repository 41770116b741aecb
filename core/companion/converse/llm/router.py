"""Which tier may answer what: the one place that decides, and the one from which anything is sent.

Sensitive content reaches no model, whatever settings, overrides or consent say. On an error the rules answer: never
silently another model. Source: spec/companion.md, TI-2 to TI-5.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

from core.clock import Clock
from core.companion.contract import ContentClass
from core.companion.converse.llm.choices import Choices, Consent, ModelChoices
from core.companion.converse.llm.contract import (
    TIERS,
    Backend,
    OnText,
    Reply,
    Request,
    Skip,
    Tier,
    Unavailable,
    highest,
)
from core.companion.converse.llm.detector import Known, why_sensitive
from core.companion.converse.llm.runs import AiRuns
from core.errors import CoreError

log = logging.getLogger(__name__)

Obstacle = Literal["no-backend", "no-consent", "not-available"]
OUTER: tuple[Tier, ...] = TIERS[1:]
CALLED: dict[Tier, str] = {"rules": "rules", "server": "own server", "cloud": "Gemini"}


@dataclass(frozen=True)
class TierState:
    """How a tier stands now; `why` says why it would not answer."""

    tier: Tier
    model: str | None
    state: Literal["ready", "off", "no-consent", "not-available", "no-backend"]
    why: str | None = None
    consent: Consent | None = None


class Router:
    """One per process, thread-safe."""

    def __init__(
        self,
        backends: Mapping[Tier, Backend],
        choices: ModelChoices,
        runs: AiRuns,
        known: Known,
        clock: Clock,
        zone: ZoneInfo,
    ) -> None:
        self._backends = backends
        self.choices = choices
        self.runs = runs
        self._known = known
        self._clock = clock
        self._zone = zone

    def complete(self, request: Request, on_text: OnText | None = None, *, mission_id: str | None = None) -> Reply:
        """The answer of the innermost tier that may and can give it; a Reply of the tier `rules` where none does.

        Never raises for what goes wrong on the way: `tried` says it. Nothing leaves before every text was looked at.
        """
        began = time.perf_counter()
        content_class, reason = self._class_of(request)
        tried: list[Skip] = []
        chosen = None
        if reason:
            tried.append(Skip("server", "sensitive", f"Only rules may answer: {reason}."))
        else:
            chosen = self._choose(request, tried)
        if chosen is None:
            reply = Reply("rules", None, content_class, latency_ms=_ms(began), tried=tuple(tried))
            self.runs.note(request, reply, tried[-1].reason if tried else "rules", mission_id=mission_id)
            return reply
        backend = self._backends[chosen]
        try:
            answer = backend.answer(request, on_text)
        except Unavailable as failure:
            tried.append(Skip(chosen, "runtime-error", failure.detail))
            reply = Reply("rules", None, content_class, latency_ms=_ms(began), tried=tuple(tried))
            self.runs.note(request, reply, "runtime-error", mission_id=mission_id)
            return reply
        reply = Reply(chosen, answer, content_class, backend.model, _ms(began), tuple(tried))
        self.runs.note(request, reply, "blocked" if answer.blocked else "answered", mission_id=mission_id)
        return reply

    def why_not(self, *texts: str) -> str | None:
        """Why these texts may go to no model, or None. A database that does not answer counts as a reason."""
        return self._class_of(Request("chat", (), "public"), texts)[1]

    def states(self) -> tuple[TierState, ...]:
        """Each tier as it stands, the rules first. Errors: DatabaseError."""
        choices = self.choices.read()
        return (TierState("rules", None, "ready"), *(self._state(tier, choices) for tier in OUTER))

    def close(self) -> None:
        for backend in self._backends.values():
            backend.close()

    def _class_of(self, request: Request, texts: tuple[str, ...] = ()) -> tuple[ContentClass, str | None]:
        if request.content_class == "sensitive":
            return "sensitive", "what it needs is sensitive"
        said = [*texts, *(m.content for m in request.messages if not m.constant)]
        said += [json.dumps(call.arguments, default=repr) for m in request.messages for call in m.calls]
        try:
            reason = why_sensitive(said, self._known, [m.content for m in request.messages if m.constant])
        except CoreError:
            reason = "it could not be checked against the people of the memory"
        return highest(request.content_class, "sensitive" if reason else "public"), reason

    def _choose(self, request: Request, tried: list[Skip]) -> Tier | None:
        """The tier that is to answer; the ones passed over are added to `tried`."""
        try:
            choices = self.choices.read()
            spent = self.runs.tokens(self._midnight())
        except CoreError:
            tried.append(Skip("server", "not-ready", "What models are allowed could not be read."))
            return None
        if spent >= choices.tokens_per_day:
            told = f"The {choices.tokens_per_day:,} tokens of the day are used up."
            tried.append(Skip("server", "over-budget", told))
            return None
        for tier in OUTER:
            skip = self._passed_over(tier, request.task, choices)
            if skip is None:
                return tier
            tried.append(skip)
        return None

    def _passed_over(self, tier: Tier, task: str, choices: Choices) -> Skip | None:
        own = choices.overrides.get(task)
        if own is not None and own != tier:
            return Skip(tier, "above-maximum", f"This task uses {CALLED[own]} only.")
        if own is None and _beyond(tier, choices):
            return Skip(tier, "above-maximum", f"The settings allow nothing beyond {CALLED[choices.maximum]}.")
        obstacle = self._obstacle(tier, choices)
        return Skip(tier, *obstacle) if obstacle else None

    def _state(self, tier: Tier, choices: Choices) -> TierState:
        backend = self._backends.get(tier)
        model = backend.model if backend else None
        consent = choices.consent if tier == "cloud" else None
        if backend is not None and _beyond(tier, choices) and tier not in choices.overrides.values():
            return TierState(tier, model, "off", "Beyond what the settings allow.", consent)
        obstacle = self._obstacle(tier, choices)
        if obstacle is None:
            return TierState(tier, model, "ready", None, consent)
        return TierState(tier, model, *obstacle, consent)

    def _obstacle(self, tier: Tier, choices: Choices) -> tuple[Obstacle, str] | None:
        backend = self._backends.get(tier)
        if backend is None:
            wanted = "OLLAMA_BASE_URL" if tier == "server" else "BESCO_GEMINI_API_KEY"
            return "no-backend", f"Not configured: {wanted} is not set."
        if tier == "cloud" and choices.consent is None:
            return "no-consent", "Nobody has agreed to the use of Gemini."
        why = backend.healthy()
        return ("not-available", why) if why else None

    def _midnight(self) -> datetime:
        return self._clock.now().astimezone(self._zone).replace(hour=0, minute=0, second=0, microsecond=0)


def _beyond(tier: Tier, choices: Choices) -> bool:
    return TIERS.index(tier) > TIERS.index(choices.maximum)


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000
