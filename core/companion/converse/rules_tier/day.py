"""How today is, what is due, and how a week was."""

from __future__ import annotations

from datetime import timedelta

from core.companion.converse.rules_tier.answer import Part, RuleAnswer, Table, counted
from core.companion.converse.rules_tier.desk import Sources
from core.companion.converse.rules_tier.intents import Intent
from core.companion.reflect.context_day import Titles, day_lines

PAGES = {"memory": "overview"}  # of modules that have no page of their own name
TITLES = 5
DAYS = {"week": 7, "month": 30, "today": 1, "yesterday": 1}


def today(given: Sources, intent: Intent) -> RuleAnswer:
    """Every module that has something to say of today, one source each."""
    if intent.range == "yesterday":
        return compared(given, intent)
    now = given.now()
    snapshot = given.day(now.date())
    parts = []
    for module in given.modules:
        of_it = {module.name: snapshot[module.name], "errors": snapshot["errors"]}
        lines = day_lines(of_it, now, frozenset(), Titles(TITLES))
        if lines:
            parts.append(Part(given.source(PAGES.get(module.name, module.name), "today"), tuple(lines)))
    says = f"{now:%A}, {now.date()}, {now:%H:%M}." + _missing(given, list(snapshot["errors"]))
    return RuleAnswer("today", says, tuple(parts), suggestions=("How was my week?", "What is wrong?"))


def due(given: Sources, intent: Intent) -> RuleAnswer:
    """Tasks that are overdue or due today, and the appointments that are still to come."""
    now = given.now()
    snapshot = given.day(now.date())
    parts, words = [], []
    if "todo" not in snapshot["errors"]:
        tasks = snapshot["todo"]
        waiting = list(tasks.get("due_today", ()))
        late = tasks.get("overdue", 0)
        words.append(f"{counted(len(waiting), 'task is', 'tasks are')} due today, {late} overdue")
        lines = [f"{tasks.get('total', 0)} open, {tasks.get('completed', 0)} done today"]
        lines += [
            f"due today: {one['title']}{' (high priority)' if one.get('priority') == 'high' else ''}"
            for one in waiting[:TITLES]
        ]
        if len(waiting) > TITLES:
            lines.append(f"and {len(waiting) - TITLES} more")
        parts.append(Part(given.source("todo", "today"), tuple(lines)))
    if "calendar" not in snapshot["errors"]:
        lines = day_lines({"calendar": snapshot["calendar"], "errors": {}}, now, frozenset(), Titles(TITLES))
        coming = snapshot["calendar"].get("upcoming", ())
        words.append(f"{counted(len(coming), 'appointment is', 'appointments are')} to come")
        parts.append(Part(given.source("calendar", "today"), tuple(lines)))
    gone = [name for name in ("todo", "calendar") if name in snapshot["errors"]]
    says = ("; ".join(words) + "." if words else "") + _missing(given, gone)
    return RuleAnswer("due", says.strip(), tuple(parts), suggestions=("How is today?", "Which goals are behind?"))


def compared(given: Sources, intent: Intent) -> RuleAnswer:
    """Sums and means of the days of a range, beside the same number of days before."""
    name = intent.range or "week"
    days = DAYS[name]
    last = given.today() - timedelta(days=name == "yesterday")
    first = last - timedelta(days=days - 1)
    found = given.figures.compare(last, days)
    span = f"{first} to {last}" if days > 1 else f"{last}"
    before = f"{first - timedelta(days=days)} to {first - timedelta(days=1)}" if days > 1 else f"{first - timedelta(1)}"
    open_day = "; today is not over" if name in ("week", "month") else ""
    rows = tuple(
        (
            f.name,
            _figure(f.now),
            _figure(f.before),
            f.change,
            f.page,
        )
        for f in found
        if not f.failed
    )
    failed = sorted({f.module for f in found if f.failed})
    says = (
        f"{span}, compared with {before}{open_day}."
        if rows
        else f"Nothing was recorded from {first - timedelta(days=days)} to {last}."
    )
    source = given.source("insights", "daily figures from the log of events and the totals by hour")
    span_words = {1: ("that day", "the day before")}.get(days, (f"{days} days", f"{days} before"))
    table = Table(("figure", *span_words, "change", "page"), rows, source) if rows else None
    return RuleAnswer(
        "week" if intent.name == "week" else intent.name,
        says + _missing(given, failed),
        table=table,
        suggestions=("What did it cost this week, by day?", "How are my streaks?", "Which goals are behind?"),
    )


def _figure(value: float | None) -> float | int | None:
    if value is None:
        return None
    exact = round(value, 4 if abs(value) < 1 else 2 if abs(value) < 1_000 else 0)
    return int(exact) if exact == int(exact) else exact


def _missing(given: Sources, names: list[str]) -> str:
    labels = {module.name: module.label for module in given.modules}
    told = ", ".join(labels.get(name, name) for name in names)
    return f" Not to be had now: {told}." if told else ""
