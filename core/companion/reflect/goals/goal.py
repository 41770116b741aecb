"""A goal as pages, rules and the context document read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date, datetime
from typing import Any, Literal

from core.companion.contract import GoalMetric, GoalTarget

Status = Literal["active", "paused", "completed", "abandoned"]
TITLE_LIMIT = 60


@dataclass(frozen=True)
class GoalPeriod:
    """A period that is over. `value` None: it was not known; `reached` None: not judged, as the goal was paused."""

    start: date
    end: date
    value: float | None
    reached: bool | None
    zone: str


@dataclass(frozen=True)
class Goal:
    """A goal in its present period, with the periods before, oldest first. `value` None: a named metric without one."""

    id: str
    title: str
    module: str
    metric: GoalMetric
    target: GoalTarget
    status: Status
    value: float | None
    start: date
    end: date
    zone: str
    history: tuple[GoalPeriod, ...] = ()
    reached_at: datetime | None = None
    exceeded_at: datetime | None = None
    description: str | None = None
    linked_modules: tuple[str, ...] = ()
    template_id: str | None = None

    @property
    def percent(self) -> float:
        """Of the target that is reached, or used; 0 for an unknown value, and not capped."""
        if not self.value:
            return 0.0
        return self.value / self.target.value * 100 if self.target.value else 100.0

    @property
    def remaining(self) -> float:
        """What is missing to the target, or what is left of a limit; negative beyond it."""
        return self.target.value - (self.value or 0.0)

    @property
    def reached(self) -> bool:
        """Whether it was said of this period that it is reached; an undo does not take that back."""
        return self.reached_at is not None

    @property
    def met(self) -> bool | None:
        """Whether the value is now what the target asks; a limit is only kept when the period is over."""
        if self.value is None:
            return None
        if self.target.comparison == "eq":
            return self.value == self.target.value
        if self.target.comparison == "lte":
            return self.value <= self.target.value
        return self.value >= self.target.value


def metric_json(metric: GoalMetric) -> dict[str, Any]:
    """As companion_goals.metric holds it."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(metric).items()}


def goal_of(row: Mapping[str, Any]) -> Goal:
    """From a row of companion_goal_list."""
    metric, target = dict(row["metric"]), row["target"]
    for name in ("events", "minus"):
        metric[name] = tuple(metric.get(name) or ())
    return Goal(
        id=row["id"],
        title=row["title"],
        module=row["module"],
        metric=GoalMetric(**metric),
        target=GoalTarget(float(target["value"]), target["period"], target["comparison"]),
        status=row["status"],
        value=_number(row["value"]),
        start=date.fromisoformat(row["period_start"]),
        end=date.fromisoformat(row["period_end"]),
        zone=row["zone"],
        history=tuple(_period(p) for p in row["history"]),
        reached_at=_moment(row["reached_at"]),
        exceeded_at=_moment(row["exceeded_at"]),
        description=row["description"],
        linked_modules=tuple(row["linked_modules"]),
        template_id=row["template_id"],
    )


def _period(row: Mapping[str, Any]) -> GoalPeriod:
    start, end = (date.fromisoformat(row[name]) for name in ("period_start", "period_end"))
    return GoalPeriod(start, end, _number(row["value"]), row["reached"], row["zone"])


def _number(value: Any) -> float | None:
    return None if value is None else float(value)


def _moment(value: Any) -> datetime | None:
    return datetime.fromisoformat(value) if value else None
