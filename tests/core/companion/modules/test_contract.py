"""What holds for every module: ids are unique, tools say what they are, nothing refers to what is not there."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

import pytest

from core.access.roles import ACTIONS
from core.bootstrap import Core
from core.companion.act.toolbox import schema
from core.companion.contract import At, Module, OnEvent
from core.companion.modules.desk import FIGURES
from core.errors import CoreError
from core.events.catalogue import EVENTS

NAMES = (
    *("todo", "calendar", "drink", "food", "places", "memory", "snapshots", "usage", "health", "insights"),
    "companion",
)


@pytest.fixture
def modules(core: Core) -> tuple[Module, ...]:
    return core.companion.modules


def once(ids: Iterable[str]) -> None:
    assert not [id for id, n in Counter(ids).items() if n > 1]


def test_eleven_modules(modules: tuple[Module, ...]) -> None:
    """Each once, each with a label and a class of content."""
    assert sorted(m.name for m in modules) == sorted(NAMES)
    assert all(m.label and m.content_class in ("public", "personal", "sensitive") for m in modules)


def test_ids_are_unique(modules: tuple[Module, ...]) -> None:
    """Over all modules: tools and their other names, rules, templates, streaks, metrics; events belong to one."""
    once(name for m in modules for t in m.tools for name in (t.name, *t.aliases))
    once(r.id for m in modules for r in m.rules)
    once(g.id for m in modules for g in m.goal_templates)
    once(g.title for m in modules for g in m.goal_templates)
    once(s.id for m in modules for s in m.streaks)
    once(d.id for m in modules for d in m.metrics)
    once(event for m in modules for event in m.events)


def test_there_are_at_least_twenty_goal_templates(modules: tuple[Module, ...]) -> None:
    """One click each."""
    assert sum(len(m.goal_templates) for m in modules) >= 20


def test_events_exist(modules: tuple[Module, ...]) -> None:
    """Everything that names an event names one of the catalogue."""
    for m in modules:
        named = [*m.events, *m.section.stale_after, *m.inverses, *m.handlers]
        for measure in [s.measure for s in m.streaks] + [d.measure for d in m.metrics if d.measure]:
            named += [*measure.events, *measure.minus, *measure.unless]
        for goal in m.goal_templates:
            named += [*goal.metric.events, *goal.metric.minus]
        for rule in m.rules:
            named += rule.trigger.types if isinstance(rule.trigger, OnEvent) else ()
        for extractor in m.extractors:
            named += [extractor.event, *([extractor.then] if extractor.then else [])]
        assert not set(named) - set(EVENTS), m.name


def test_fields_of_measures_exist(modules: tuple[Module, ...]) -> None:
    """A measure, goal or pattern asks for fields that its events have."""
    for m in modules:
        for measure in [s.measure for s in m.streaks if not s.daily] + [d.measure for d in m.metrics if d.measure]:
            for event in measure.events:
                fields = {*measure.where, *filter(None, (measure.value_field,))}
                assert not fields - set(EVENTS[event].fields), (m.name, event)
        for goal in m.goal_templates:
            wanted = {goal.metric.filter_field, goal.metric.sum_field, goal.metric.distinct_field} - {None}
            for event in goal.metric.events:
                assert not wanted - set(EVENTS[event].fields), (goal.id, event)


def test_tools(modules: tuple[Module, ...]) -> None:
    """Each is described with every parameter, has a policy, a class, an action that exists and its module's name."""
    for m in modules:
        for tool in m.tools:
            assert tool.module == m.name and tool.label and tool.description.endswith("."), tool.name
            assert tool.default_policy in ("auto", "propose", "deny"), tool.name
            assert tool.content_class in ("public", "personal", "sensitive"), tool.name
            assert set(tool.actions) <= set(ACTIONS), tool.name
            assert all(p.description for p in tool.parameters), tool.name
            assert tool.expires_h > 0, tool.name
            again = json.loads(json.dumps(schema(tool)))
            assert again == schema(tool) and again["function"]["name"] == tool.name


def test_no_read_falls_to_the_default(modules: tuple[Module, ...], core: Core) -> None:
    """A tool that only reads is auto, and only takes actions that change nothing."""
    for tool in core.companion.act.toolbox.all():
        if tool.read_only:
            assert tool.default_policy == "auto", tool.name
            assert not any(ACTIONS[action].changes for action in tool.actions), tool.name
    assert {t.name for t in core.companion.act.toolbox.all()} == {t.name for m in modules for t in m.tools}


def test_goals_and_rules_refer_to_what_is_there(modules: tuple[Module, ...]) -> None:
    """Custom goals to metrics, streak goals to streaks, rules and trivial pairs to modules and metrics."""
    metrics = {d.id for m in modules for d in m.metrics}
    streaks = {s.id for m in modules for s in m.streaks}
    names = {m.name for m in modules}
    for m in modules:
        for goal in m.goal_templates:
            source = goal.metric.source
            known = {"custom": metrics, "streak_days": streaks}.get(source)
            assert known is None or goal.metric.name in known, goal.id
            assert known is not None or goal.metric.events, goal.id
            assert goal.module == m.name and set(goal.linked_modules) <= names
        for rule in m.rules:
            assert rule.module == m.name and set(rule.needs) <= names, rule.id
            assert not isinstance(rule.trigger, At) or all(0 <= h < 24 for h, _ in rule.trigger.times)
        for metric in m.metrics:
            assert metric.id.startswith(f"{m.name}.") and metric.module == m.name
            assert set(metric.trivial_with) <= metrics, metric.id
            assert (metric.measure is None) != (metric.daily is None), metric.id


def test_sections(modules: tuple[Module, ...], core: Core) -> None:
    """A day of an empty database has the form of the empty section, as plain JSON."""
    today = core.clock.now().date()
    for m in modules:
        built = dict(m.section.build(today))
        assert set(m.section.empty) <= set(built), m.name
        json.dumps(built)
        json.dumps(dict(m.section.empty))


def test_daily_figures_of_an_empty_database(modules: tuple[Module, ...], core: Core) -> None:
    """Every one can be asked, and knows nothing or zeros."""
    today = core.clock.now().date()
    for m in modules:
        for metric in m.metrics:
            if metric.daily:
                assert not any(metric.daily(today - timedelta(days=3), today).values()), metric.id
        for streak in m.streaks:
            threshold = streak.threshold() if callable(streak.threshold) else streak.threshold
            assert isinstance(float(threshold), float), streak.id


def test_every_read_works_on_an_empty_database(core: Core) -> None:
    """A read without required arguments answers, or refuses in words; it never breaks."""
    for tool in core.companion.act.toolbox.all():
        if tool.read_only and not any(p.required for p in tool.parameters):
            try:
                result = core.companion.act.executor.call(tool.name, {})
            except CoreError as error:
                raise AssertionError(tool.name) from error
            assert "error of its own" not in result.message, tool.name


def test_figures_that_can_be_set(core: Core) -> None:
    """What the operator sets replaces what a rule has by itself."""
    assert core.companion.settings.figure("memory.p95_ms", FIGURES["memory.p95_ms"]) == 800
    core.companion.settings.patch("figures", {"memory.p95_ms": 500})
    assert core.companion.settings.figure("memory.p95_ms", FIGURES["memory.p95_ms"]) == 500
