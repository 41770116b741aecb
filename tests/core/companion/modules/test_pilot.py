"""The five modules together: complete, consistent, as the specification lists them."""

from __future__ import annotations

from collections.abc import Mapping

from core.companion.contract import Module
from core.companion.records.records import Records
from core.events.catalogue import EVENTS


def test_policies(modules: Mapping[str, Module]) -> None:
    """Reads and notes about oneself run, the rest is proposed. Source: spec/companion.md, TO-8."""
    policies = {tool.name: tool.default_policy for module in modules.values() for tool in module.tools}
    auto = {name for name, policy in policies.items() if policy == "auto"}
    assert auto == {
        *("get_task_stats", "list_tasks", "get_todays_events", "log_drink", "get_drink_progress", "log_meal"),
        *("get_nutrition_summary", "get_places", "get_current_location"),
    }
    assert {name for name, policy in policies.items() if policy == "propose"} == {
        *("create_task", "complete_task", "complete_tasks_by_title", "create_event", "undo_drink", "create_place"),
        "visit_place",
    }


def test_counts(modules: Mapping[str, Module]) -> None:
    """Eleven extractors and one of ours, nine templates, twelve metrics, three streaks (ME-5, GO-7, CO-4, ST-2)."""
    whole = modules.values()
    assert sum(len(m.extractors) for m in whole) == 12
    assert sum(len(m.goal_templates) for m in whole) == 9
    assert sum(len(m.metrics) for m in whole) == 12
    assert sum(len(m.streaks) for m in whole) == 3


def test_events_exist(modules: Mapping[str, Module]) -> None:
    """Every event named anywhere is in the catalogue, in the room of its module."""
    for module in modules.values():
        named = {*module.events, *module.section.stale_after, *module.inverses, *module.handlers}
        named |= {extractor.event for extractor in module.extractors}
        for template in module.goal_templates:
            named |= {*template.metric.events, *template.metric.minus}
        for measured in (*module.streaks, *module.metrics):
            if measured.measure is not None:
                named |= {*measured.measure.events, *measured.measure.minus}
                fields = {*measured.measure.where, measured.measure.value_field, measured.measure.day_field} - {None}
                assert all(fields <= set(EVENTS[e].fields) for e in measured.measure.events if e in EVENTS)
        assert named <= set(module.events)
        assert {EVENTS[name].app_id for name in named} == {module.name}


def test_empty_days(modules: Mapping[str, Module], records: Records) -> None:
    """An empty day has the form that the module says, all zeros; nothing divides by zero."""
    for module in modules.values():
        found = module.section.build(records.today())
        assert set(module.section.empty) <= set(found)
        assert {k: v for k, v in found.items() if k in module.section.empty} == module.section.empty
