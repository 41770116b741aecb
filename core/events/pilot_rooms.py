"""Events of the operator's own day: tasks, appointments, drinks, meals, places. Source: spec/companion.md section 1.

What was eaten and where an appointment is stays in the row: free text never enters an event.
"""

from __future__ import annotations

from core.events.facts import AUDIT, OBSERVATION, fact, room

TODO = room(
    "todo",
    fact("TaskCreated", AUDIT, word="task_id priority project_id", words="label_ids", title="title", day="due_date"),
    fact(
        "TaskCompleted", AUDIT, word="task_id project_id priority", title="title", flag="was_overdue", reversible=True
    ),
    fact("TaskUncompleted", AUDIT, word="task_id", title="title"),
    fact("TaskDeleted", AUDIT, word="task_id", title="title", reversible=True),
    fact("TaskRestored", AUDIT, word="task_id", title="title"),
    fact("TaskUpdated", AUDIT, word="task_id", words="fields"),
    fact("TaskRescheduled", AUDIT, word="task_id", title="title", day="old_date new_date", reversible=True),
    fact("SubtasksUpdated", AUDIT, word="task_id", count="total completed"),
    fact("ReminderSet", AUDIT, word="task_id reminder_id type", count="minutes_before", reversible=True),
    fact("ReminderDeleted", AUDIT, word="task_id reminder_id"),
)

CALENDAR = room(
    "calendar",
    fact(
        "CalendarEventCreated",
        AUDIT,
        word="event_id calendar_id start_time end_time",
        title="title",
        day="date",
        flag="is_all_day is_recurring has_location",
        number="minutes",
        reversible=True,
    ),
    fact("CalendarEventUpdated", AUDIT, word="event_id", words="fields"),
    fact("CalendarEventDeleted", AUDIT, word="event_id", title="title", flag="was_recurring", reversible=True),
    fact("CalendarEventRestored", AUDIT, word="event_id", title="title"),
    fact("CalendarEventMoved", AUDIT, word="event_id old_start new_start", title="title", reversible=True),
)

DRINK = room(
    "drink",
    fact(
        "DrinkLogged",
        AUDIT,
        word="entry_id drink_type time",
        title="name",
        day="date",
        number="quantity_ml",
        flag="from_preset",
        reversible=True,
    ),
    fact("DrinkEntryDeleted", AUDIT, word="entry_id drink_type", day="date", number="quantity_ml", reversible=True),
    fact("DrinkEntryUndone", AUDIT, word="entry_id drink_type", day="date", number="quantity_ml"),
    fact("DrinkEntryRestored", AUDIT, word="entry_id drink_type", day="date", number="quantity_ml"),
    fact("DrinkGoalSet", AUDIT, number="goal_ml before_ml", reversible=True),
    fact("DrinkGoalReached", AUDIT, word="drink_type", day="date", number="goal_ml actual_ml"),
)

FOOD = room(
    "food",
    fact(
        "MealLogged",
        AUDIT,
        word="meal_id meal_type input_type time",
        day="date",
        number="calories protein",
        reversible=True,
    ),
    fact(
        "MealFromPhotoLogged",
        AUDIT,
        word="meal_id meal_type photo_media_id time",
        day="date",
        count="foods",
        number="confidence calories protein",
        reversible=True,
    ),
    fact("MealDeleted", AUDIT, word="meal_id meal_type", day="date", number="calories protein", reversible=True),
    fact("MealRestored", AUDIT, word="meal_id meal_type", day="date", number="calories protein"),
    fact(
        "NutritionGoalSet",
        AUDIT,
        word="goal_id",
        number="daily_calories daily_protein daily_carbs daily_fat daily_fibre daily_sugar "
        "before_calories before_protein",
        reversible=True,
    ),
    fact("DailyCalorieGoalReached", AUDIT, day="date", number="goal actual"),
)

PLACES = room(
    "places",
    fact("PlaceCreated", AUDIT, word="place_id category", title="name", number="lat lng", reversible=True),
    fact("PlaceDeleted", AUDIT, word="place_id", title="name", reversible=True),
    fact("PlaceRestored", AUDIT, word="place_id", title="name"),
    fact("PlaceUpdated", AUDIT, word="place_id", words="fields"),
    fact(
        "PlaceVisited",
        AUDIT,
        word="place_id visit_id",
        title="name",
        day="date",
        count="visit_count",
        reversible=True,
    ),
    fact("PlaceVisitUndone", AUDIT, word="place_id visit_id", title="name", day="date", count="visit_count"),
    fact("LocationLogged", OBSERVATION, word="log_id place_id", day="date", number="lat lng accuracy distance_km"),
    fact("LocationForgotten", AUDIT, word="log_id", day="date"),
    fact("TrackingStarted", AUDIT, moment="timestamp"),
    fact("TrackingStopped", AUDIT, count="log_count", number="duration_ms"),
)

PILOT = (*TODO, *CALENDAR, *DRINK, *FOOD, *PLACES)
