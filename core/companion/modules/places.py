"""Places: where the operator was, as the companion sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.companion.contract import (
    Extractor,
    GoalMetric,
    GoalTarget,
    GoalTemplate,
    Measure,
    MetricDef,
    Module,
    ModuleTool,
    Parameter,
    Section,
    ToolResult,
)
from core.companion.modules.answers import Params, alone, done, honest, part, refusal, seen
from core.companion.records.places import CATEGORIES
from core.companion.records.records import Records

EVENTS = (
    *("PlaceCreated", "PlaceUpdated", "PlaceDeleted", "PlaceRestored", "PlaceVisited", "PlaceVisitUndone"),
    *("LocationLogged", "LocationForgotten", "TrackingStarted", "TrackingStopped"),
)
VISITED, UNVISITED = ("PlaceVisited",), ("PlaceVisitUndone",)


def places(records: Records) -> Module:
    return Module(
        name="places",
        label="Places",
        content_class="personal",
        events=EVENTS,
        section=Section(records.places.day, {"visited_today": 0, "tracking": False}, stale_after=EVENTS),
        tools=_tools(records),
        metrics=(
            MetricDef(
                "places.visits", "places", "Visits", "visits", Measure(VISITED, minus=UNVISITED, day_field="date")
            ),
            MetricDef(
                "places.distance_km",
                "places",
                "Way covered",
                "km",
                daily=records.figures.daily("distance_km"),
            ),
        ),
        goal_templates=(
            GoalTemplate(
                "places.three-a-week",
                "Three different places a week",
                "places",
                GoalMetric("event_count", VISITED, distinct_field="place_id"),
                GoalTarget(3, "week"),
            ),
            GoalTemplate(
                "places.one-a-day",
                "One place a day",
                "places",
                GoalMetric("event_count", VISITED, UNVISITED),
                GoalTarget(1, "day"),
            ),
        ),
        extractors=(Extractor("dow", "PlaceVisited", "places are visited"),),
        inverses=_inverses(records),
    )


def _tools(records: Records) -> tuple[ModuleTool, ...]:
    room = records.places

    def create(given: Params) -> ToolResult:
        place = room.create(
            given["name"],
            given["latitude"],
            given["longitude"],
            category=given.get("category", "other"),
            address=given.get("address"),
        )
        return done("The place is made.", place, part(place, "id", "name", "category"))

    def visit(given: Params) -> ToolResult:
        place = room.visit(given["place_id"])
        return done(f"Visits: {place['visit_count']}.", place, part(place, "id", "name", "visit_count"))

    def listed(_: Params) -> ToolResult:
        found = room.list()
        return done(
            f"{len(found)} places.", list(found), [part(p, "id", "name", "category", "visit_count") for p in found]
        )

    def current(_: Params) -> ToolResult:
        at = room.current()
        return done("The latest position of today.", at, {k: at[k] for k in ("at", "place_id", "place") if k in at})

    def one(given: Params) -> Mapping[str, Any]:
        return part(room.get(given["place_id"]), "id", "name")

    def missing(given: Params) -> None:
        room.get(given["place_id"])

    def tool(name: str, label: str, says: str, run: Any, *parameters: Parameter, **more: Any) -> ModuleTool:
        reads = more.get("read_only", False)
        return ModuleTool(
            name=name,
            module="places",
            label=label,
            description=says,
            execute=honest(run),
            action="own_day" if reads else "own_day_change",
            default_policy="auto" if reads else "propose",
            content_class="personal",
            parameters=parameters,
            **more,
        )

    return (
        tool(
            "create_place",
            "Create a place",
            "Keep a place with its position.",
            create,
            Parameter("name", "string", "What it is called.", required=True, max_length=200),
            Parameter("latitude", "number", "In degrees, north is positive.", required=True, minimum=-90, maximum=90),
            Parameter("longitude", "number", "In degrees, east is positive.", required=True, minimum=-180, maximum=180),
            Parameter("category", "string", "What kind of place.", enum=CATEGORIES, default="other"),
            Parameter("address", "string", "Its address.", max_length=4000),
            reversible=True,
        ),
        tool(
            "visit_place",
            "Note a visit",
            "Note that the operator is at a place now.",
            visit,
            Parameter("place_id", "string", "The id of the place.", required=True),
            aliases=("record_visit",),
            reversible=True,
            target=seen(one),
            refuse=refusal(missing),
        ),
        tool("get_places", "List places", "The places of the operator with their visits.", listed, read_only=True),
        tool(
            "get_current_location",
            "Current position",
            "Where the operator was last today, as noted on the Places page.",
            current,
            read_only=True,
        ),
    )


def _inverses(records: Records) -> Mapping[str, Any]:
    room = records.places

    def created(event: Params) -> ToolResult:
        alone(event)
        room.delete(event["payload"]["place_id"], match={"name": event["payload"]["name"]})
        return done("The place is deleted.")

    def deleted(event: Params) -> ToolResult:
        alone(event)
        room.restore(event["payload"]["place_id"])
        return done("The place is back.")

    def visited(event: Params) -> ToolResult:
        room.unvisit(event["payload"]["visit_id"])
        return done("The visit is taken back.")

    return {"PlaceCreated": honest(created), "PlaceDeleted": honest(deleted), "PlaceVisited": honest(visited)}
