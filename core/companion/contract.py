"""What a module tells the companion about itself: its events, tools, day, streaks, metrics, goals and rules.

Plain data and functions; who uses them (executor, projections, tracker, pulse) lives in the wings beside this file.
Source: spec/companion.md, G-5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from core.events.event import Event

ContentClass = Literal["public", "personal", "sensitive"]
Decision = Literal["auto", "propose", "deny"]
ParameterType = Literal["string", "number", "integer", "boolean", "array", "object"]
Period = Literal["day", "week", "month"]
Comparison = Literal["gte", "lte", "eq"]
Priority = Literal["low", "medium", "high"]


@dataclass(frozen=True)
class Parameter:
    """One argument of a tool. `same_as` maps other spellings to the value meant, before `enum` is checked."""

    name: str
    type: ParameterType
    description: str
    required: bool = False
    enum: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    pattern: str | None = None
    default: Any = None
    same_as: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ToolResult:
    """What a tool says. `llm_data` is the redacted form of `data` for a model: counts, ids and dates, never texts."""

    success: bool
    message: str
    data: Any = None
    llm_data: Any = None


@dataclass(frozen=True)
class ModuleTool:
    """Something a person, a routine or an AI can do, by name. `action` is what core.access has to allow for it.

    `execute` gets validated, coerced arguments and runs under the actor of whoever asked; it says `success=False`
    for an unknown id or nothing to do, and emits no event then. `expires_h` is the life of a proposal to run it.
    """

    name: str
    module: str
    label: str
    description: str
    execute: Callable[[Mapping[str, Any]], ToolResult]
    action: str
    default_policy: Decision
    content_class: ContentClass
    parameters: tuple[Parameter, ...] = ()
    read_only: bool = False
    reversible: bool = False
    once_per_plan: bool = False
    expires_h: int = 168
    aliases: tuple[str, ...] = ()
    # What the change would be made to: its digest is kept with a proposal, which is refused once it differs.
    target: Callable[[Mapping[str, Any]], Any] | None = None
    # Why this cannot be asked for now, None where it can: told before a run and before a proposal, not at its approval.
    refuse: Callable[[Mapping[str, Any]], str | None] | None = None
    # The dialogs that such arguments are about, beside `dialog_key`: an erasure of one takes the proposal along.
    dialogs: Callable[[Mapping[str, Any]], Sequence[str]] | None = None
    also: tuple[str, ...] = ()  # further actions that it takes

    @property
    def actions(self) -> tuple[str, ...]:
        """Everything that core.access has to allow for it."""
        return (self.action, *self.also)


@dataclass(frozen=True)
class Measure:
    """A daily figure over events: `agg` of payload field `value_field` over `events`, less that of the `minus` events.

    `where` compares payload fields as text. `day_field` names the payload field that holds the local day; else the
    day is the event's moment in the zone. `count` and `sum` subtract; `max`, `avg`, `p95` and `distinct` do not.
    A flag counts as 0 or 1. Days with an event of `unless` have no value; nor have days without an event.
    """

    events: tuple[str, ...]
    agg: Literal["count", "sum", "avg", "max", "p95", "distinct"] = "count"
    value_field: str | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    minus: tuple[str, ...] = ()
    day_field: str | None = None
    unless: tuple[str, ...] = ()


@dataclass(frozen=True)
class StreakDef:
    """Days on which a measure holds. `closing`: only a day that is over can count (nothing more can spoil it).

    `grace` days may be missed; `threshold` is a number or asked when needed (a goal that is a setting). Where no
    event tells the value, `daily` does: (first day, last day) -> value per day; the events of `measure` make it stale.
    """

    id: str
    module: str
    label: str
    measure: Measure
    threshold: float | Callable[[], float] = 1.0
    comparison: Comparison = "gte"
    closing: bool = False
    grace: int = 1
    daily: Callable[[date, date], Mapping[date, float]] | None = None


@dataclass(frozen=True)
class MetricDef:
    """A daily metric for correlations and custom goals; `id` is `<module>.<name>`.

    From events by `measure`, or by `daily`: (first day, last day) -> value per day, days without one left out.
    `trivial_with` names metrics with which it moves mechanically: such pairs are hidden.
    """

    id: str
    module: str
    label: str
    unit: str
    measure: Measure | None = None
    daily: Callable[[date, date], Mapping[date, float]] | None = None
    trivial_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class GoalMetric:
    """What a goal counts. `custom` names a MetricDef, `streak_days` a StreakDef, in `name`."""

    source: Literal["event_count", "event_sum", "streak_days", "custom"]
    events: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    filter_field: str | None = None
    filter_value: str | None = None
    sum_field: str | None = None
    distinct_field: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class GoalTarget:
    value: float
    period: Period
    comparison: Comparison = "gte"


@dataclass(frozen=True)
class GoalTemplate:
    """A goal that is made with one click."""

    id: str
    title: str
    module: str
    metric: GoalMetric
    target: GoalTarget
    linked_modules: tuple[str, ...] = ()


@dataclass(frozen=True)
class OnEvent:
    types: tuple[str, ...]


@dataclass(frozen=True)
class Every:
    minutes: int


@dataclass(frozen=True)
class At:
    """Local hours (with minutes as `(hour, minute)`), on one weekday (0 Monday) or each day."""

    times: tuple[tuple[int, int], ...]
    weekday: int | None = None


Trigger = OnEvent | Every | At


@dataclass(frozen=True)
class Nudge:
    """Something the operator should know; `id` encodes day, hour or period, so that it is made once."""

    id: str
    type: str
    title: str
    body: str
    priority: Priority
    module: str
    expires_at: datetime | None = None
    action_label: str | None = None
    action_route: str | None = None
    action_tool: str | None = None
    action_params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RuleContext:
    """What a rule may look at; `now` is in the zone. `day` is the day snapshot: one mapping per module, and `errors`.

    `stats` gives (acted, total) per nudge type over 30 days; `event` is what woke an event rule, else None.
    `shown` gives when each nudge of the last 30 days was shown, by its id.
    """

    now: datetime
    zone: ZoneInfo
    day: Mapping[str, Mapping[str, Any]]
    streaks: Sequence[Any] = ()
    goals: Sequence[Any] = ()
    facts: Sequence[Any] = ()
    correlations: Sequence[Any] = ()
    stats: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    event: Event | None = None
    shown: Mapping[str, datetime] = field(default_factory=dict)

    @property
    def hour(self) -> int:
        return self.now.hour

    @property
    def today(self) -> date:
        return self.now.date()


@dataclass(frozen=True)
class Rule:
    """When to look, and what to say: `check` is deterministic and does no I/O. None: nothing to say.

    `needs` names the sections of the day without which the slot is not used up. `resolves` says of a nudge that is
    shown whether its condition is gone. Not `learnable`: outcomes never move or mute it.
    """

    id: str
    name: str
    description: str
    module: str
    trigger: Trigger
    check: Callable[[RuleContext], Nudge | Sequence[Nudge] | None]
    needs: tuple[str, ...] = ()
    resolves: Callable[[RuleContext, str], bool] | None = None
    learnable: bool = True


@dataclass(frozen=True)
class Extractor:
    """A pattern to look for in one event type. `sequence` asks whether it comes before the first `then` of the day."""

    kind: Literal["dow", "time", "frequency", "sequence", "recurrence"]
    event: str
    label: str
    where: Mapping[str, str] = field(default_factory=dict)
    then: str | None = None


@dataclass(frozen=True)
class Section:
    """A module's part of the day snapshot: `build(day)`, the form of an empty one, the events that make it stale."""

    build: Callable[[date], Mapping[str, Any]]
    empty: Mapping[str, Any]
    stale_after: tuple[str, ...] = ()


@dataclass(frozen=True)
class Module:
    """One part of the product as the companion sees it. `inverses`: event type -> undo, given the stored event row.

    `handlers`: event type -> what the module derives from it (an event once a day); subscribed at the start.
    """

    name: str
    label: str
    content_class: ContentClass
    events: tuple[str, ...]
    section: Section
    tools: tuple[ModuleTool, ...] = ()
    streaks: tuple[StreakDef, ...] = ()
    metrics: tuple[MetricDef, ...] = ()
    goal_templates: tuple[GoalTemplate, ...] = ()
    rules: tuple[Rule, ...] = ()
    extractors: tuple[Extractor, ...] = ()
    inverses: Mapping[str, Callable[[Mapping[str, Any]], ToolResult]] = field(default_factory=dict)
    handlers: Mapping[str, Callable[[Event], None]] = field(default_factory=dict)
