"""What the operator allows models: the outermost tier, tiers of single tasks, consent to the cloud, tokens a day."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.access import acting
from core.clock import Clock
from core.companion.converse.llm.contract import TIERS, Tier
from core.companion.settings import CompanionSettings
from core.errors import Forbidden, InputError
from core.events.actor import Actor
from core.events.emitter import Events

TOPIC = "llm"
TASKS = ("chat", "plan", "ritual", "extract")
TOKENS_PER_DAY = 200_000
CONSENT_VERSION = 1
CONSENT_TEXT = (
    "Questions to the companion, the figures of the day, titles of tasks and appointments, and redacted results of "
    "tools go to Google's Gemini under the key that the operator configured. Chunks, notes, messages, profiles, "
    "photos, meals, names and ids of the memory never do. It can be taken back here at any time, at once."
)


@dataclass(frozen=True)
class Consent:
    """Who agreed to which text, and when."""

    by: str
    at: datetime
    version: int


@dataclass(frozen=True)
class Choices:
    """`overrides`: task -> the only outer tier it may use; "rules" for none."""

    maximum: Tier
    overrides: Mapping[str, Tier]
    tokens_per_day: int
    consent: Consent | None


class ModelChoices:
    """Read anew at each call, so that what is taken back counts at once, in every process."""

    def __init__(self, settings: CompanionSettings, events: Events, clock: Clock) -> None:
        self._settings = settings
        self._events = events
        self._clock = clock

    def read(self) -> Choices:
        """What is stored; a value of another version falls back to its default. Errors: DatabaseError."""
        kept = self._settings.read(TOPIC)
        overrides = kept.get("overrides")
        tokens = kept.get("tokens_per_day")
        return Choices(
            maximum=kept["maximum"] if kept.get("maximum") in TIERS else "cloud",
            overrides={k: v for k, v in overrides.items() if k in TASKS and v in TIERS}
            if isinstance(overrides, dict)
            else {},
            tokens_per_day=tokens if isinstance(tokens, int) and not isinstance(tokens, bool) else TOKENS_PER_DAY,
            consent=_consent(kept.get("consent")),
        )

    def allow(self, maximum: Tier) -> None:
        """The outermost tier that may be used. Errors: InputError, DatabaseError, Forbidden."""
        if maximum not in TIERS:
            raise InputError(f"The tier is one of {', '.join(TIERS)}.", field="maximum")
        self._patch("maximum", self.read().maximum, maximum)

    def override(self, task: str, tier: Tier | None) -> None:
        """The tier of one task alone; None takes it away. Errors: InputError, DatabaseError, Forbidden."""
        if task not in TASKS or (tier is not None and tier not in TIERS):
            raise InputError("There is no such task or tier.", field="override")
        had = dict(self.read().overrides)
        now = {**had, task: tier} if tier else {k: v for k, v in had.items() if k != task}
        self._patch("overrides", had.get(task, "none"), tier or "none", stored=now, key=f"override.{task}")

    def limit(self, tokens_per_day: int) -> None:
        """Errors: InputError, DatabaseError, Forbidden."""
        if isinstance(tokens_per_day, bool) or not 0 <= tokens_per_day <= 1_000_000_000:
            raise InputError("Tokens a day are a whole number from 0.", field="tokens_per_day")
        self._patch("tokens_per_day", self.read().tokens_per_day, tokens_per_day)

    def agree(self) -> Consent:
        """The person who acts agrees to CONSENT_TEXT. Errors: Forbidden for anyone but a person, DatabaseError."""
        actor = _person()
        consent = Consent(actor.display_name, self._clock.now(), CONSENT_VERSION)
        stored = {"by": consent.by, "at": consent.at.isoformat(), "version": consent.version}
        self._patch("consent", "none", f"version-{CONSENT_VERSION}", stored=stored)
        return consent

    def revoke(self) -> None:
        """No further call goes to the cloud. Errors: Forbidden, DatabaseError."""
        if self.read().consent is not None:
            self._patch("consent", f"version-{CONSENT_VERSION}", "none", stored=None)

    def _patch(self, name: str, old: Any, new: Any, *, stored: Any = ..., key: str | None = None) -> None:
        _person()
        event = self._events.prepare(
            "CompanionSettingChanged", {"key": f"{TOPIC}.{key or name}", "old_value": str(old), "new_value": str(new)}
        )
        self._settings.patch(TOPIC, {name: new if stored is ... else stored}, event)
        self._events.announce(event)


def _person() -> Actor:
    actor = acting()
    if actor.kind != "user":
        raise Forbidden("Only a person decides what models may be given.", hint="Use the companion's settings.")
    return actor


def _consent(kept: Any) -> Consent | None:
    if not isinstance(kept, dict) or kept.get("version") != CONSENT_VERSION:
        return None
    try:
        return Consent(str(kept["by"]), datetime.fromisoformat(kept["at"]), CONSENT_VERSION)
    except (KeyError, TypeError, ValueError):
        return None
