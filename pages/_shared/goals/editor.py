"""The goal editor: what is counted, towards what, and what that would be today."""

from __future__ import annotations

from typing import Any, get_args

import streamlit as st

from core.companion.contract import GoalMetric, GoalTarget, Period
from core.companion.reflect.goals.draft import Draft, checked, number_fields, shared_fields
from core.companion.reflect.goals.goal import TITLE_LIMIT, Goal
from core.errors import CoreError, InputError
from core.events.catalogue import EVENTS
from pages._shared import formats, session
from pages._shared.companion import mind
from pages._shared.feedback import boundary
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.resources import core

EDITED = "goal-edited"
OPEN = "goal-editor"
SOURCES = {
    "event_count": "Count events",
    "event_sum": "Add up a field",
    "distinct": "Count different values",
    "streak_days": "Days of a streak",
    "custom": "A figure of the day",
}
COMPARISONS = {"gte": "reach at least", "lte": "keep to at most", "eq": "end at exactly"}
FIELDS = {
    "events": "Events that count",
    "minus": "Events that take back",
    "sum_field": "Field to add up",
    "distinct_field": "Field whose values differ",
    "filter_field": "Only where the field",
    "filter_value": "has the value",
    "value": "Target",
    "name": "Which one",
    "title": "Title",
    "period": "Period",
    "module": "Part of the product",
    "description": "Description",
    "comparison": "How it is judged",
}


def begin(goal: Goal | None) -> None:
    """A callback: the form with the values of a goal, or an empty one."""
    session.remember(EDITED, goal)
    session.remember(OPEN, True)
    outcome.new_form("goal")


def close() -> None:
    session.remember(EDITED, None)
    session.remember(OPEN, False)
    outcome.new_form("goal")


@only("change_goals")
def show() -> None:
    """A button, or the form itself while it is open."""
    if not session.remembered(OPEN, False):
        st.button("Make a goal", icon=":material/add:", key="goal-new", on_click=begin, args=(None,))
        return
    goal: Goal | None = session.remembered(EDITED, None)
    form = goal.id if goal else outcome.form_id("goal")
    says = "Nothing is changed before it is saved. Events that other programs emit count as well."
    with panel("Change a goal" if goal else "Make a goal", says), boundary("The goal editor"):
        draft = _fields(form, goal)
        fault = _fault(draft)
        _preview(draft, fault)
        with st.container(horizontal=True, gap="small"):
            st.button("Save", type="primary", key=f"{form}-save", on_click=save, args=(draft,))
            st.button("Cancel", key=f"{form}-cancel", on_click=close)


def save(draft: Draft) -> None:
    """A callback; a fault names its field and the form stays."""
    try:
        _checked(draft)
    except InputError as fault:
        outcome.say("error", f"{FIELDS.get(fault.field or '', 'Goal')}: {fault.what}")
        return
    done = mind.attempt(draft.title, lambda actor: mind.mind().goals.save(actor, draft))
    if done is None:
        return
    if done.outcome == "duplicate":
        outcome.say("error", f"{FIELDS['title']}: an active goal has this title already.")
        return
    outcome.say("done", f"{draft.title.strip()}: {'made' if done.outcome == 'created' else 'changed'}.")
    close()


def _fields(form: str, goal: Goal | None) -> Draft:
    metric = goal.metric if goal else GoalMetric("event_count")
    target = goal.target if goal else GoalTarget(1, "day")
    names = {module.name: module.label for module in core().companion.modules}
    left, right = st.columns([3, 2])
    title = left.text_input(FIELDS["title"], goal.title if goal else "", key=f"{form}-title", max_chars=TITLE_LIMIT)
    modules = list(names) or ["companion"]
    if goal and goal.module not in modules:
        modules.append(goal.module)
    at = modules.index(goal.module) if goal else 0
    module = right.selectbox(
        FIELDS["module"], modules, at, key=f"{form}-module", format_func=lambda name: names.get(name, name)
    )
    kind = "distinct" if metric.distinct_field else metric.source
    chosen = st.segmented_control(
        "What is measured", list(SOURCES), default=kind, key=f"{form}-source", format_func=SOURCES.__getitem__
    )
    made = (
        _named(form, metric, chosen) if chosen in ("streak_days", "custom") else _counted(form, metric, chosen or kind)
    )
    wanted = _target(form, target)
    return Draft(
        id=form,
        title=title,
        module=module,
        metric=made,
        target=wanted,
        description=goal.description if goal else None,
        linked_modules=goal.linked_modules if goal else (),
        template_id=goal.template_id if goal else None,
    )


def _named(form: str, metric: GoalMetric, chosen: Any) -> GoalMetric:
    room = mind.mind().goals
    known = room.streak_names if chosen == "streak_days" else {id: m.label for id, m in room.metrics.items()}
    options = list(known)
    name = st.selectbox(
        FIELDS["name"],
        options,
        options.index(metric.name) if metric.name in options else None,
        key=f"{form}-name-{chosen}",
        format_func=known.__getitem__,
        placeholder="Choose one" if options else "There is none",
    )
    return GoalMetric(chosen, name=name)


def _counted(form: str, metric: GoalMetric, chosen: str) -> GoalMetric:
    words = {name: f"{formats.event(name)} ({known.app_id})" for name, known in EVENTS.items()}
    left, right = st.columns(2)
    events = left.multiselect(
        FIELDS["events"], list(words), list(metric.events), key=f"{form}-events", format_func=words.__getitem__
    )
    minus = right.multiselect(
        FIELDS["minus"],
        list(words),
        list(metric.minus),
        key=f"{form}-minus",
        format_func=words.__getitem__,
        help="An undo or a deletion: it subtracts what it names.",
    )
    fields = list(shared_fields(events)) if events else []
    filters = [name for name, kind in shared_fields(events).items() if kind != "ident"] if events else []
    left, middle, right = st.columns(3)
    sums = list(number_fields(events)) if events else []
    sum_field = distinct = None
    if chosen == "event_sum":
        sum_field = _choice(left, "sum_field", sums, metric.sum_field, form)
    elif chosen == "distinct":
        distinct = _choice(left, "distinct_field", fields, metric.distinct_field, form)
    field = _choice(middle, "filter_field", filters, metric.filter_field, form)
    value = right.text_input(
        FIELDS["filter_value"], metric.filter_value or "", key=f"{form}-filter-value", disabled=field is None
    )
    return GoalMetric(
        "event_sum" if chosen == "event_sum" else "event_count",
        tuple(events),
        tuple(minus),
        field,
        (value.strip() or None) if field else None,
        sum_field,
        distinct,
    )


def _choice(cell: Any, name: str, options: list[str], chosen: str | None, form: str) -> str | None:
    found: str | None = cell.selectbox(
        FIELDS[name],
        options,
        options.index(chosen) if chosen in options else None,
        key=f"{form}-{name}",
        placeholder="any" if name == "filter_field" else "Choose one" if options else "Choose an event first",
    )
    return found


def _target(form: str, target: GoalTarget) -> GoalTarget:
    left, middle, right = st.columns(3)
    comparison: Any = left.selectbox(
        FIELDS["comparison"],
        list(COMPARISONS),
        list(COMPARISONS).index(target.comparison),
        key=f"{form}-comparison",
        format_func=COMPARISONS.__getitem__,
    )
    value = middle.number_input(FIELDS["value"], value=float(target.value), key=f"{form}-value", format="%g")
    periods = list(get_args(Period))
    period: Any = right.selectbox(FIELDS["period"], periods, periods.index(target.period), key=f"{form}-period")
    return GoalTarget(float(value), period, comparison)


def _checked(draft: Draft) -> Draft:
    room = mind.mind().goals
    return checked(draft, metrics=room.metrics.keys(), streaks=room.streak_names.keys())


def _fault(draft: Draft) -> InputError | None:
    try:
        _checked(draft)
    except InputError as fault:
        return fault
    return None


def _preview(draft: Draft, fault: InputError | None) -> None:
    """What the stored events give for the present period; a title is not needed for that."""
    if fault is not None and fault.field not in ("title", "value"):
        st.caption(f"{FIELDS.get(fault.field or '', 'Goal')}: {fault.what}")
        return
    try:
        value = mind.mind().goals.preview(draft.metric, draft.target.period)
    except CoreError as error:
        st.caption(f"What it would be cannot be said now. {error.what}")
        return
    when = "today" if draft.target.period == "day" else f"this {draft.target.period}"
    said = "not known yet" if value is None else f"{value:,.2f}".rstrip("0").rstrip(".")
    st.text(f"Would be {said} {when}.")
