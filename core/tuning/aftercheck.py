"""How the active profile does on live searches, beside the one before it, and what in that asks for a look.

A check, no proof: live queries have no labels. Each finding has its threshold beside it.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.access.roles import permit
from core.db.client import Database
from core.errors import CoreError
from core.events.emitter import Events

log = logging.getLogger(__name__)
SEARCHES_LEAST = 20
FALLBACK_MORE = 0.05
EMPTY_MORE = 0.02
UNJUDGED_MORE = 0.20
ONE_SOURCE = 0.95  # of all places
TOP_SHIFT = 1.0  # standard deviations of the top scores before


@dataclass(frozen=True)
class Figures:
    """Of the recorded searches of one profile; shares 0 to 1, None where there is nothing to divide by."""

    searches: int
    fallback: float | None = None
    empty: float | None = None
    unjudged: float | None = None
    top_mean: float | None = None
    top_sd: float | None = None
    tokens_mean: float | None = None
    slots: Mapping[str, float] = field(default_factory=dict)  # places by source, a search
    first_at: str | None = None
    last_at: str | None = None


@dataclass(frozen=True)
class Finding:
    """`word` names the rule in events; `says` is for the page."""

    word: str
    says: str


@dataclass(frozen=True)
class AfterCheck:
    """`enough` false: too few searches of either profile to compare; `before` None: nothing was active before."""

    version: int
    since: str
    before_version: int | None
    now: Figures
    before: Figures | None
    findings: tuple[Finding, ...]

    @property
    def enough(self) -> bool:
        return self.before is not None and min(self.now.searches, self.before.searches) >= SEARCHES_LEAST

    @property
    def top_shift(self) -> float | None:
        """Difference of the mean top scores, in standard deviations of those before."""
        if self.before is None or self.now.top_mean is None or self.before.top_mean is None or not self.before.top_sd:
            return None
        return (self.now.top_mean - self.before.top_mean) / self.before.top_sd


class AfterChecks:
    """Thread-safe. Source: SQL function desk_profile_after_check."""

    def __init__(self, db: Database, events: Events) -> None:
        self._db = db
        self._events = events
        self._told: set[str] = set()

    def look(self) -> AfterCheck:
        """Errors: Forbidden, DatabaseError."""
        permit("profiles")
        answer = self._db.rpc("desk_profile_after_check", {}, read=True, returns=dict)
        before = None if answer["before"] is None else figures(answer["before"])
        now = figures(answer["now"])
        version, previous = int(answer["version"]), answer["before_version"]
        found = AfterCheck(version, answer["since"], previous, now, before, findings(now, before))
        if found.enough and found.findings:
            self._tell(found)
        return found

    def _tell(self, found: AfterCheck) -> None:
        """One event for each time in force and each set of findings, however often it is looked at."""
        words = sorted(f.word for f in found.findings)
        id = str(uuid.uuid5(uuid.NAMESPACE_OID, f"ProfileAfterCheck {found.version} {found.since} {words}"))
        if id in self._told:
            return
        payload = {"version": found.version, "searches": found.now.searches, "findings": words}
        event = self._events.prepare("ProfileAfterCheck", payload, record_id=f"profile:{found.version}")
        event = replace(event, meta=replace(event.meta, id=id))
        try:
            answer = self._db.rpc("companion_append_events", {"p_events": [event.row()]}, read=False, returns=dict)
        except CoreError as failure:
            log.warning("ProfileAfterCheck was not recorded (%s); the next look tries again", failure.code)
            return
        self._told.add(id)
        if answer["inserted"]:
            self._events.announce(event)


def figures(row: Mapping[str, Any]) -> Figures:
    searches, returned = int(row["searches"]), int(row["returned"])
    judged = row["judged"]
    return Figures(
        searches=searches,
        fallback=row["fallback"] / searches if searches else None,
        empty=row["empty"] / searches if searches else None,
        unjudged=None if judged is None or not returned else 1 - judged / returned,
        top_mean=row["top_mean"],
        top_sd=row["top_sd"],
        tokens_mean=row["tokens_mean"],
        slots={source: n / searches for source, n in row["slots"].items()} if searches else {},
        first_at=row["first_at"],
        last_at=row["last_at"],
    )


def findings(now: Figures, before: Figures | None) -> tuple[Finding, ...]:
    """What is worse than before by more than its threshold; nothing while either has too few searches."""
    if before is None or min(now.searches, before.searches) < SEARCHES_LEAST:
        return ()
    found = [
        *_more("fallback", "searches answered by words alone", now.fallback, before.fallback, FALLBACK_MORE),
        *_more("empty", "searches that found nothing", now.empty, before.empty, EMPTY_MORE),
        *_more("unjudged", "returned chunks that nobody judged", now.unjudged, before.unjudged, UNJUDGED_MORE),
    ]
    source, share = _leading(now)
    if share >= ONE_SOURCE > _leading(before)[1]:
        found.append(Finding("one_source", f"{source} takes {share:.0%} of all places."))
    shift = AfterCheck(0, "", None, now, before, ()).top_shift
    if shift is not None and abs(shift) > TOP_SHIFT:
        found.append(Finding("top_score", f"The top score moved by {shift:+.1f} SD of before."))
    return tuple(found)


def _more(word: str, what: str, now: float | None, before: float | None, most: float) -> list[Finding]:
    if now is None or before is None or now - before <= most:
        return []
    return [Finding(word, f"More {what}: {now:.0%} against {before:.0%} before.")]


def _leading(of: Figures) -> tuple[str, float]:
    whole = sum(of.slots.values())
    if not whole:
        return "", 0.0
    source = max(of.slots, key=lambda s: of.slots[s])
    return source, of.slots[source] / whole
