"""Food: meals, as the companion sees them. Sensitive: what was eaten reaches no model, figures do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.companion.contract import (
    At,
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    ModuleTool,
    Nudge,
    Parameter,
    Rule,
    RuleContext,
    Section,
    StreakDef,
    ToolResult,
)
from core.companion.modules.answers import Params, alone, done, honest, part
from core.companion.modules.todo_rules import counted, end_of_day
from core.companion.records.meals import TYPES
from core.companion.records.records import Records

BY_WORDS_OR_PHOTO = ("MealLogged", "MealFromPhotoLogged")
LOGGED = (*BY_WORDS_OR_PHOTO, "MealRestored")
DELETED = ("MealDeleted",)
EVENTS = (*LOGGED, *DELETED, "NutritionGoalSet", "DailyCalorieGoalReached")
EMPTY = {"meals": 0, "calories": {"actual": 0, "goal": 2000, "percent": 0}}
MEALS = Measure(LOGGED, minus=DELETED, day_field="date")
NOON, EVENING = 12, 19


def food(records: Records) -> Module:
    return Module(
        name="food",
        label="Food",
        content_class="sensitive",
        events=EVENTS,
        section=Section(records.meals.day, EMPTY, stale_after=EVENTS),
        tools=_tools(records),
        streaks=(StreakDef("food.meals", "food", "A meal logged", MEALS),),
        metrics=(
            MetricDef("food.calories", "food", "Calories", "kcal", _sum("calories"), trivial_with=("food.meals",)),
            MetricDef("food.protein", "food", "Protein", "g", _sum("protein"), trivial_with=("food.meals",)),
            MetricDef("food.meals", "food", "Meals", "meals", MEALS),
        ),
        goal_templates=(
            GoalTemplate(
                "food.meals-3",
                "Three meals a day",
                "food",
                GoalMetric("event_count", LOGGED, DELETED),
                GoalTarget(3, "day"),
            ),
            GoalTemplate(
                "food.calories-2000",
                "At most 2,000 kcal a day",
                "food",
                GoalMetric("event_sum", LOGGED, DELETED, sum_field="calories"),
                GoalTarget(2000, "day", "lte"),
            ),
            GoalTemplate(
                "food.protein-50",
                "At least 50 g protein a day",
                "food",
                GoalMetric("event_sum", LOGGED, DELETED, sum_field="protein"),
                GoalTarget(50, "day"),
            ),
        ),
        rules=(
            Rule(
                "meal-reminder",
                "Meal reminder",
                "At 12:00 while no meal is logged, at 19:00 while fewer than two are.",
                "food",
                At(((NOON, 0), (EVENING, 0))),
                meal_reminder,
                needs=("food",),
                resolves=lambda ctx, id: ctx.day["food"]["meals"] >= (2 if id.endswith(f"-{EVENING}") else 1),
            ),
        ),
        extractors=(
            Extractor("time", "MealLogged", "meals are logged"),
            Extractor("frequency", "MealLogged", "meals are logged"),
        ),
        inverses=_inverses(records),
        handlers=dict.fromkeys(LOGGED, records.targets.calories_reached),
    )


def meal_reminder(ctx: RuleContext) -> Nudge | None:
    found = ctx.day["food"]
    slot = EVENING if ctx.hour >= EVENING else NOON
    if found["meals"] >= (2 if slot == EVENING else 1):
        return None
    so_far = f"{counted(found['meals'], 'meal', 'meals')} so far, {found['calories']['actual']:,.0f} kcal."
    return Nudge(
        id=f"meal-{ctx.today}-{slot}",
        type="meal_reminder",
        title="Log a meal",
        body=so_far if slot == EVENING else "No meal is logged today.",
        priority="low",
        module="food",
        expires_at=end_of_day(ctx.now),
        action_label="Open food",
        action_route="food",
    )


def _sum(field: str) -> Measure:
    return Measure(LOGGED, "sum", field, minus=DELETED, day_field="date")


def _tools(records: Records) -> tuple[ModuleTool, ...]:
    def log(given: Params) -> ToolResult:
        meal = records.meals.log(
            given["description"],
            meal_type=given["meal_type"],
            calories=given.get("calories"),
            protein=given.get("protein"),
        )
        return done("The meal is logged.", meal, part(meal, "id", "meal_type", "calories", "protein", "day"))

    def summary(_: Params) -> ToolResult:
        day = records.meals.day(records.today())
        kcal = day["calories"]
        return done(f"{day['meals']} meals, {kcal['actual']:g} of {kcal['goal']:g} kcal.", day, day)

    return (
        ModuleTool(
            name="log_meal",
            module="food",
            label="Log a meal",
            description="Note that the operator ate something now.",
            execute=honest(log),
            action="own_day_change",
            default_policy="auto",
            content_class="sensitive",
            parameters=(
                Parameter("meal_type", "string", "Which meal.", required=True, enum=TYPES),
                Parameter("description", "string", "What was eaten.", required=True, max_length=4000),
                Parameter("calories", "number", "In kcal; 0 is a value.", minimum=0, maximum=20_000),
                Parameter("protein", "number", "In grams; 0 is a value.", minimum=0, maximum=2_000),
            ),
            reversible=True,
        ),
        ModuleTool(
            name="get_nutrition_summary",
            module="food",
            label="Nutrition today",
            description="Meals, calories and protein of today against their goals.",
            execute=honest(summary),
            action="own_day",
            default_policy="auto",
            content_class="sensitive",
            read_only=True,
        ),
    )


def _inverses(records: Records) -> Mapping[str, Any]:
    def logged(event: Params) -> ToolResult:
        alone(event)
        records.meals.delete(event["payload"]["meal_id"])
        return done("The meal is deleted.")

    def deleted(event: Params) -> ToolResult:
        alone(event)
        records.meals.restore(event["payload"]["meal_id"])
        return done("The meal is back.")

    return {**{name: honest(logged) for name in BY_WORDS_OR_PHOTO}, "MealDeleted": honest(deleted)}
