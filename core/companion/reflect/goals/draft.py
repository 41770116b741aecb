"""What somebody wants to make a goal of, checked: every fault names its field."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import get_args

from core.companion.contract import Comparison, GoalMetric, GoalTarget, GoalTemplate, Period
from core.companion.reflect.goals.goal import TITLE_LIMIT
from core.errors import InputError
from core.events.catalogue import EVENTS

DESCRIPTION_LIMIT = 500
LARGEST = 1e12
NUMBERS = ("count", "number")


@dataclass(frozen=True)
class Draft:
    """A goal before it is stored; `id` of the one that is changed, else made when the form was drawn."""

    id: str
    title: str
    module: str
    metric: GoalMetric
    target: GoalTarget
    description: str | None = None
    linked_modules: tuple[str, ...] = ()
    template_id: str | None = None


def from_template(id: str, template: GoalTemplate) -> Draft:
    return Draft(
        id,
        template.title,
        template.module,
        template.metric,
        template.target,
        linked_modules=template.linked_modules,
        template_id=template.id,
    )


def checked(draft: Draft, *, metrics: Collection[str] = (), streaks: Collection[str] = ()) -> Draft:
    """The draft, trimmed; `metrics` and `streaks` are the names there are. Errors: InputError naming the field."""
    # What is counted first: the form shows what it would be while it has no title yet.
    if draft.metric.source in ("streak_days", "custom"):
        known = streaks if draft.metric.source == "streak_days" else metrics
        if draft.metric.name not in known:
            raise InputError("There is nothing of that name to read.", field="name")
        if draft.metric.source == "custom" and draft.target.period != "day":
            raise InputError("A named figure is one of a day: choose the period day.", field="period")
    else:
        _check_events(draft.metric)
    _check_target(draft.target, draft.metric)
    title = " ".join(draft.title.split())
    description = (draft.description or "").strip() or None
    if not title or len(title) > TITLE_LIMIT or not title.isprintable():
        raise InputError(f"A title has 1 to {TITLE_LIMIT} characters.", field="title")
    if description and len(description) > DESCRIPTION_LIMIT:
        raise InputError(f"A description has at most {DESCRIPTION_LIMIT} characters.", field="description")
    if not draft.module:
        raise InputError("A goal belongs to a module.", field="module")
    return replace(draft, title=title, description=description)


def _check_target(target: GoalTarget, metric: GoalMetric) -> None:
    least_is_zero = target.comparison in ("lte", "eq")
    if not math.isfinite(target.value) or target.value > LARGEST or target.value < 0:
        raise InputError("The target is no number from 0 to a trillion.", field="value")
    if target.value == 0 and not least_is_zero:
        raise InputError("A target to reach is more than 0.", field="value")
    if target.period not in get_args(Period):
        raise InputError("A period is a day, a week or a month.", field="period")
    if target.comparison not in get_args(Comparison):
        raise InputError("A target is reached (gte), kept (lte) or met exactly (eq).", field="comparison")


def _check_events(metric: GoalMetric) -> None:
    if not metric.events:
        raise InputError("Choose at least one event to count.", field="events")
    unknown = [name for name in (*metric.events, *metric.minus) if name not in EVENTS]
    if unknown:
        raise InputError(f"There is no event {unknown[0]}.", field="events")
    if set(metric.events) & set(metric.minus):
        raise InputError("An event either adds or takes back.", field="minus")
    known = shared_fields(metric.events)
    if metric.source == "event_sum":
        if metric.sum_field is None:
            raise InputError("Say which field is added up.", field="sum_field")
        if metric.sum_field not in known:
            raise InputError(f"The event has no field {metric.sum_field}.", field="sum_field")
    for name in ("filter_field", "distinct_field"):
        value = getattr(metric, name)
        if value is not None and value not in known:
            raise InputError(f"The event has no field {value}.", field=name)
    if metric.filter_field is not None and known[metric.filter_field] == "ident":
        raise InputError("A goal is not about one dialog or request.", field="filter_field")
    if (metric.filter_field is None) != (metric.filter_value is None):
        raise InputError("A filter is a field and its value.", field="filter_value")
    if metric.distinct_field is not None and metric.source == "event_sum":
        raise InputError("Different values are counted, not added up.", field="distinct_field")


def shared_fields(events: Collection[str]) -> Mapping[str, str]:
    """The payload fields that these events have in common, each with its kind, in the order of the catalogue."""
    found: dict[str, str] = {}
    for position, name in enumerate(events):
        kinds = {field: check.__name__ for field, check in EVENTS[name].fields.items()}
        found = kinds if position == 0 else {field: kind for field, kind in found.items() if field in kinds}
    return found


def number_fields(events: Collection[str]) -> tuple[str, ...]:
    """Those that can be added up."""
    return tuple(field for field, kind in shared_fields(events).items() if kind in NUMBERS)
