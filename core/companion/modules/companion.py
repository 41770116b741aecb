"""The companion's own module: a model looks at what is known of this moment, and proposes reminders, goals, routines.

Source: spec/companion.md, TO-8.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from core.companion.contract import Module, ModuleTool, Parameter, Section, ToolResult
from core.companion.converse.rituals.opening import Routines
from core.companion.modules.answers import Params, done, honest
from core.companion.modules.companion_changes import changes, inverses
from core.companion.records.records import Records
from core.companion.reflect.facts import SHOWN_FROM
from core.companion.reflect.goals.goal import Goal
from core.companion.reflect.opening import Reflection

FACTS, CORRELATIONS, NUDGES = 12, 8, 8


def companion(
    records: Records, mind: Callable[[], Reflection], routines: Callable[[], Routines], counted: Collection[str]
) -> Module:
    """`mind` and `routines` are asked when a tool runs: they are built from the modules. `counted`: event types that a
    goal may count."""
    return Module(
        name="companion",
        label="Companion",
        content_class="personal",
        events=("GoalCreated", "RitualChanged", "NudgeSnoozed"),
        section=Section(lambda day: {}, {}),
        tools=(*_reads(mind), *changes(records, mind, routines, counted)),
        inverses=inverses(mind, routines),
    )


def countable(modules: Iterable[Module]) -> frozenset[str]:
    """Event types that templates of goals, metrics and streaks count: the others tell a goal nothing."""
    found: set[str] = set()
    for module in modules:
        measures = [s.measure for s in module.streaks] + [m.measure for m in module.metrics if m.measure]
        found |= {event for measure in measures for event in measure.events}
        found |= {event for template in module.goal_templates for event in template.metric.events}
    return frozenset(found)


def _reads(mind: Callable[[], Reflection]) -> tuple[ModuleTool, ...]:
    def context(_: Params) -> ToolResult:
        full, told = (mind().context(for_model=for_model).split("\n") for for_model in (False, True))
        return done("What is known of this moment.", {"lines": full}, {"lines": told})

    def insights(_: Params) -> ToolResult:
        known = mind().sources
        facts = [fact for fact in known.facts() if fact.confidence >= SHOWN_FROM][:FACTS]
        correlations = list(known.correlations())[:CORRELATIONS]
        streaks, nudges = list(known.streaks()), mind().nudges.open()

        def shown(hidden: Collection[str]) -> dict[str, Any]:
            # A line each, without the category: a model is told whole lines, and few enough to look at one by one.
            open_to = [n for n in nudges if n.module not in hidden]
            return {
                "streaks": [
                    f"{s.label}: {s.current} days, {s.status.replace('_', ' ')}, longest {s.longest}"
                    for s in streaks
                    if s.module not in hidden
                ],
                "facts": [
                    f"{f.content} ({f.confidence:.0%} sure)" for f in facts if not {*f.source_modules} & {*hidden}
                ],
                "correlations": [
                    f"{c.sentence} (r {c.coefficient:+.2f}, {c.sample_size} days)"
                    for c in correlations
                    if not {c.factor_a.module, c.factor_b.module} & {*hidden}
                ],
                "nudges": [{"nudge_id": n.id, "title": n.title} for n in open_to[:NUDGES]],
            }

        said = f"{len(facts)} facts, {len(correlations)} correlations, {len(streaks)} streaks, {len(nudges)} nudges."
        return done(said, shown(()), shown(mind().sensitive))

    def goals(given: Params) -> ToolResult:
        asked = given.get("status", "active")
        found = [goal for goal in mind().goals.list(0) if asked in ("all", goal.status)]
        hidden = mind().sensitive
        told = [_goal(goal) for goal in found if not {goal.module, *goal.linked_modules} & hidden]
        return done(f"{len(found)} goals.", {"goals": [_goal(goal) for goal in found]}, {"goals": told})

    def tool(
        name: str,
        label: str,
        says: str,
        run: Callable[[Params], ToolResult],
        *given: Parameter,
        action: str = "own_day",
    ) -> ModuleTool:
        return ModuleTool(
            name=name,
            module="companion",
            label=label,
            description=says,
            execute=honest(run),
            action=action,
            default_policy="auto",
            content_class="personal",
            parameters=given,
            read_only=True,
        )

    statuses = ("active", "paused", "completed", "abandoned", "all")
    return (
        tool("read_context", "Read the situation", "What is known of this moment: day, goals, streaks.", context),
        tool("get_insights", "Insights", "Streaks, learned facts, correlations and the open nudges.", insights),
        tool(
            "list_goals",
            "List goals",
            "Goals in their present period, with value and target.",
            goals,
            Parameter("status", "string", "Which goals.", enum=statuses, default="active"),
            action="companion",
        ),
    )


def _goal(goal: Goal) -> dict[str, Any]:
    return {
        "id": goal.id,
        "title": goal.title,
        "module": goal.module,
        "status": goal.status,
        "value": goal.value,
        "target": goal.target.value,
        "comparison": goal.target.comparison,
        "period": goal.target.period,
        "reached": goal.reached,
    }
