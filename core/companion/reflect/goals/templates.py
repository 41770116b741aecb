"""Goals that are made with one click: those of the modules, in their order, each title once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from core.companion.contract import GoalTemplate, Module
from core.companion.reflect.goals.goal import Goal


@dataclass(frozen=True)
class Offer:
    """A template, and whether an active goal of its title is there already."""

    template: GoalTemplate
    active: bool


def templates_of(modules: Sequence[Module]) -> tuple[GoalTemplate, ...]:
    """Every template, the first of each id."""
    found: dict[str, GoalTemplate] = {}
    for module in modules:
        for template in module.goal_templates:
            found.setdefault(template.id, template)
    return tuple(found.values())


def offers(templates: Sequence[GoalTemplate], goals: Collection[Goal]) -> tuple[Offer, ...]:
    taken = {goal.title.casefold() for goal in goals if goal.status == "active"}
    return tuple(Offer(template, template.title.casefold() in taken) for template in templates)
