"""Drink: what was drunk, as the companion sees it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from core.companion.contract import (
    Every,
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
from core.companion.records.drinks import MOST_ML, TYPES
from core.companion.records.records import Records
from core.errors import ConflictError
from core.events.event import Event

LOGGED = ("DrinkLogged", "DrinkEntryRestored")
TAKEN_BACK = ("DrinkEntryDeleted", "DrinkEntryUndone")
EVENTS = (*LOGGED, *TAKEN_BACK, "DrinkGoalSet", "DrinkGoalReached")
EMPTY = {
    "water": {"ml": 0, "goal": 2500, "percent": 0},
    "coffee": {"ml": 0, "count": 0},
    "other": {"ml": 0, "count": 0},
    "total": {"ml": 0, "count": 0},
}
WATER, COFFEE = {"drink_type": "water"}, {"drink_type": "coffee"}
WATER_ML = Measure(LOGGED, "sum", "quantity_ml", WATER, TAKEN_BACK, "date")
FIRST_HOUR, LAST_HOUR = 8, 21
EVERY_MIN = 90


def drink(records: Records) -> Module:
    def reached(event: Event) -> None:
        if event.payload.get("drink_type") == "water":
            records.targets.water_reached(event)

    return Module(
        name="drink",
        label="Drinks",
        content_class="personal",
        events=EVENTS,
        section=Section(records.drinks.day, EMPTY, stale_after=EVENTS),
        tools=_tools(records),
        streaks=(
            StreakDef("drink.water_goal", "drink", "Water goal reached", WATER_ML, threshold=records.targets.water_ml),
        ),
        metrics=(
            MetricDef("drink.water_ml", "drink", "Water", "ml", WATER_ML),
            MetricDef(
                "drink.coffees",
                "drink",
                "Cups of coffee",
                "cups",
                Measure(LOGGED, where=COFFEE, minus=TAKEN_BACK, day_field="date"),
            ),
            MetricDef(
                "drink.goal_reached",
                "drink",
                "Water goal reached",
                "0 or 1",
                Measure(("DrinkGoalReached",), day_field="date"),
            ),
        ),
        goal_templates=(
            GoalTemplate(
                "drink.water-8",
                "Eight glasses of water a day",
                "drink",
                GoalMetric("event_count", LOGGED, TAKEN_BACK, "drink_type", "water"),
                GoalTarget(8, "day"),
            ),
            GoalTemplate(
                "drink.coffee-3",
                "At most three coffees a day",
                "drink",
                GoalMetric("event_count", LOGGED, TAKEN_BACK, "drink_type", "coffee"),
                GoalTarget(3, "day", "lte"),
            ),
        ),
        rules=(
            Rule(
                "water-reminder",
                "Water reminder",
                "Every 90 minutes from 8 to 21 h, while the water goal is not reached.",
                "drink",
                Every(EVERY_MIN),
                water_reminder,
                needs=("drink",),
                resolves=lambda ctx, _: ctx.day["drink"]["water"]["percent"] >= 100,
            ),
        ),
        extractors=(
            Extractor("dow", "DrinkLogged", "coffee is drunk", COFFEE),
            Extractor("frequency", "DrinkLogged", "coffee is drunk", COFFEE),
            Extractor("frequency", "DrinkLogged", "water is drunk", WATER),
            Extractor("time", "DrinkLogged", "drinks are logged"),
            Extractor(
                "sequence",
                "DrinkLogged",
                "coffee is drunk before the first appointment",
                COFFEE,
                then="CalendarEventCreated",
            ),
        ),
        inverses=_inverses(records),
        handlers=dict.fromkeys(LOGGED, reached),
    )


def water_reminder(ctx: RuleContext) -> Nudge | None:
    water = ctx.day["drink"]["water"]
    if not FIRST_HOUR <= ctx.hour <= LAST_HOUR or water["percent"] >= 100 or water["ml"] >= water["goal"]:
        return None
    left = water["goal"] - water["ml"]
    hours = LAST_HOUR - ctx.hour
    pace = f": {math.ceil(left / hours):,} ml an hour until {LAST_HOUR} h" if hours > 0 else ""
    return Nudge(
        id=f"water-{ctx.today}-{ctx.hour}",
        type="water_reminder",
        title="Time for water",
        body=f"{left:,.0f} ml are left of {water['goal']:,.0f} ml{pace}.",
        priority="medium" if water["percent"] < 50 else "low",
        module="drink",
        expires_at=ctx.now + timedelta(minutes=EVERY_MIN),
        action_label="Log 250 ml",
        action_route="drink",
        action_tool="log_drink",
        action_params={"drink_type": "water", "quantity_ml": 250},
    )


def _tools(records: Records) -> tuple[ModuleTool, ...]:
    drinks = records.drinks

    def log(given: Params) -> ToolResult:
        entry = drinks.log(given["drink_type"], given["quantity_ml"], name=given.get("name"))
        shown = part(entry, "id", "drink_type", "quantity_ml", "day")
        return done(f"Logged {entry['quantity_ml']} ml {entry['drink_type']}.", entry, shown)

    def progress(_: Params) -> ToolResult:
        day = drinks.day(records.today())
        water = day["water"]
        return done(f"{water['ml']} of {water['goal']} ml water, {water['percent']} %.", day, day)

    def undo(_: Params) -> ToolResult:
        entry = drinks.undo()
        shown = part(entry, "id", "drink_type", "quantity_ml", "day")
        return done(f"Took back {entry['quantity_ml']} ml {entry['drink_type']}.", entry, shown)

    def latest(_: Params) -> str | None:
        today = drinks.list(records.today())
        return str(today[0]["id"]) if today else None

    shared: dict[str, Any] = {"module": "drink", "content_class": "personal"}
    return (
        ModuleTool(
            name="log_drink",
            label="Log a drink",
            description="Note that the operator drank something now.",
            execute=honest(log),
            action="own_day_change",
            default_policy="auto",
            parameters=(
                Parameter(
                    "drink_type", "string", "What it was.", required=True, enum=TYPES, same_as={"alcohol": "other"}
                ),
                Parameter("quantity_ml", "number", "How much, in ml.", required=True, minimum=1, maximum=MOST_ML),
                Parameter("name", "string", "Its name, where the kind does not say it.", max_length=200),
            ),
            reversible=True,
            **shared,
        ),
        ModuleTool(
            name="get_drink_progress",
            label="Drinks today",
            description="Water against its goal, coffee and other drinks of today.",
            execute=honest(progress),
            action="own_day",
            default_policy="auto",
            read_only=True,
            **shared,
        ),
        ModuleTool(
            name="undo_drink",
            label="Take back the latest drink",
            description="Delete the drink of today that was logged last.",
            execute=honest(undo),
            action="own_day_change",
            default_policy="propose",
            once_per_plan=True,
            target=latest,
            refuse=lambda given: None if latest(given) else "There is no drink of today to take back.",
            **shared,
        ),
    )


def _inverses(records: Records) -> Mapping[str, Any]:
    def logged(event: Params) -> ToolResult:
        alone(event)
        records.drinks.delete(event["payload"]["entry_id"])
        return done("The drink is deleted.")

    def deleted(event: Params) -> ToolResult:
        alone(event)
        records.drinks.restore(event["payload"]["entry_id"])
        return done("The drink is back.")

    def goal(event: Params) -> ToolResult:
        said = event["payload"]
        if records.targets.water_ml() != said["goal_ml"]:
            raise ConflictError("The goal was changed again since.")
        records.targets.set_water(said["before_ml"])
        return done("The former goal holds again.")

    taken = {name: honest(deleted) for name in ("DrinkEntryDeleted", "DrinkEntryUndone")}
    return {"DrinkLogged": honest(logged), "DrinkGoalSet": honest(goal), **taken}
