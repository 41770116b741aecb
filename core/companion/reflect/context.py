"""The context document: what the companion knows of this moment, as text for whoever answers. Deterministic, no model.

Never stored. Source: spec/companion.md, CD-1 to CD-4.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from core.companion.reflect.context_day import Titles, day_lines
from core.companion.reflect.facts import Fact
from core.companion.reflect.goals.goal import Goal
from core.tokens import estimate_tokens

CAP_TOKENS = 600
SURE, PATTERNS, PATTERNS_LEAST, CORRELATIONS = 0.5, 6, 3, 3
TITLES = 5


@dataclass(frozen=True)
class Situation:
    """Everything that the document may say; `now` is in the zone. Streaks and correlations as `reflect` gives them."""

    now: datetime
    day: Mapping[str, Mapping[str, Any]]
    goals: Sequence[Goal] = ()
    streaks: Sequence[Any] = ()
    facts: Sequence[Fact] = ()
    correlations: Sequence[Any] = ()
    trends: Sequence[str] = ()
    # Modules whose lines never reach a model.
    sensitive: Collection[str] = field(default_factory=frozenset)


@dataclass(frozen=True)
class _Room:
    """What is left out when there is too much, in this order."""

    correlations: int = CORRELATIONS
    patterns: int = PATTERNS
    broken: bool = True
    titles: int = TITLES


_STEPS = (
    _Room(),
    _Room(correlations=0),
    _Room(correlations=0, patterns=PATTERNS_LEAST),
    _Room(correlations=0, patterns=PATTERNS_LEAST, broken=False),
    _Room(correlations=0, patterns=PATTERNS_LEAST, broken=False, titles=0),
)


def context_document(situation: Situation, *, for_model: bool) -> str:
    """At most 600 tokens by estimate. `for_model`: lines of sensitive modules are left out, with what follows from
    them: goals, streaks, facts and correlations."""
    hidden = frozenset(situation.sensitive) if for_model else frozenset()
    text = ""
    for room in _STEPS:
        text = _written(situation, hidden, room)
        if estimate_tokens(text) <= CAP_TOKENS:
            return text
    # Titles and labels have their limits, their number has not: whole lines from the end.
    lines = text.split("\n")
    while len(lines) > 1 and estimate_tokens("\n".join(lines)) > CAP_TOKENS:
        lines.pop()
    return "\n".join(lines)


def _written(situation: Situation, hidden: frozenset[str], room: _Room) -> str:
    today = situation.now.date()
    sections = (
        ("Today", day_lines(situation.day, situation.now, hidden, Titles(room.titles))),
        ("Goals", [_goal(goal) for goal in situation.goals if goal.status == "active" and _open(goal, hidden)]),
        ("Streaks", _streaks(situation.streaks, today, hidden, broken=room.broken)),
        ("Known patterns", _patterns(situation.facts, hidden, room.patterns)),
        ("Correlations", _correlations(situation.correlations, hidden, room.correlations)),
        ("Last 7 days against the 7 before", list(situation.trends)),
    )
    parts = [f"{situation.now:%A} {today}, {situation.now:%H:%M} ({situation.now.tzinfo})"]
    parts += [f"## {name}\n" + "\n".join(f"- {line}" for line in lines) for name, lines in sections if lines]
    return "\n".join(parts)


def _open(goal: Goal, hidden: frozenset[str]) -> bool:
    return not ({goal.module, *goal.linked_modules} & hidden)


def _goal(goal: Goal) -> str:
    sign = {"gte": "", "lte": "at most ", "eq": "exactly "}[goal.target.comparison]
    value = "unknown" if goal.value is None else f"{goal.value:g}"
    return f"{goal.title}: {value} of {sign}{goal.target.value:g} this {goal.target.period}"


def _streaks(streaks: Sequence[Any], today: date, hidden: frozenset[str], *, broken: bool) -> list[str]:
    lines = []
    for status in ("active", "at_risk", "broken"):
        for streak in streaks:
            if streak.status != status or streak.module in hidden:
                continue
            days = "day" if streak.current == 1 else "days"
            if status == "active":
                lines.append(f"{streak.label}: {streak.current} {days}")
            elif status == "at_risk":
                lines.append(f"{streak.label}: {streak.current} {days}, AT RISK today")
            elif broken and streak.longest and streak.last_active:
                gone = (today - streak.last_active).days
                lines.append(f"{streak.label}: broken, record {streak.longest}, last {gone} days ago")
    return lines


def _patterns(facts: Sequence[Fact], hidden: frozenset[str], most: int) -> list[str]:
    sure = [f for f in facts if f.confidence > SURE and not set(f.source_modules) & hidden]
    ordered = sorted(sure, key=lambda f: (-f.confidence, f.fact_key))[:most]
    return [f"{fact.content} ({fact.confidence:.0%} sure)" for fact in ordered]


def _correlations(found: Sequence[Any], hidden: frozenset[str], most: int) -> list[str]:
    open_ones = [c for c in found if not {c.factor_a.module, c.factor_b.module} & hidden]
    ordered = sorted(open_ones, key=lambda c: (-abs(c.coefficient), c.id))[:most]
    return [f"{c.sentence} (r {c.coefficient:+.2f})" for c in ordered]
