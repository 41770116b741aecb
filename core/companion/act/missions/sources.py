"""The kinds of input there are: figures, titles and dates of each module, never a text of the memory.

Source: spec/companion.md, MI-11.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from core.companion.act.missions.inputs import CANDIDATES, Candidate, Source
from core.companion.act.missions.llm_planner import lines
from core.companion.records.records import Records
from core.companion.reflect.opening import Reflection
from core.errors import NotFound
from core.usage.lines import folded
from core.usage.periods import last_days

if TYPE_CHECKING:
    from core.companion.deps import Deps

RANGES = {"today": 1, "week": 7, "month": 30}
HOURS = {"24": "the last day", "168": "the last week", "720": "the last 30 days"}
LISTS = {"open": "All open tasks", "overdue": "Overdue tasks", "today": "Tasks of today"}
AHEAD = {"7": "The next week", "30": "The next 30 days"}
SPANS = {"1": "Today against yesterday", "7": "Today against a week ago"}

Said = tuple[str, str] | None


def sources(deps: Deps, records: Records, mind: Reflection) -> tuple[Source, ...]:
    """Each reads when it is asked, not before."""
    return (
        *_own(records),
        Source("goals", "goal", "Goals", lambda: _goals(mind), lambda ref: _goal(mind, ref)),
        Source(
            *("companion", "fact", "What was learned", lambda: _facts(mind), lambda ref: _fact(mind, ref)),
            action="own_day",
        ),
        Source(
            "memory", "dialog", "Dialogs (counts and dates)", lambda: _dialogs(deps), lambda ref: _dialog(deps, ref)
        ),
        Source("snapshots", "diff", "Snapshots compared", _fixed(SPANS), lambda ref: _diff(deps, records, ref)),
        Source("usage", "summary", "Usage", _fixed(_ranges()), lambda ref: _usage(deps, ref)),
        Source("health", "history", "Health", _fixed(_hours()), lambda ref: _health(deps, ref)),
    )


def _own(records: Records) -> tuple[Source, ...]:
    def tasks() -> list[Candidate]:
        rows = records.tasks.list("open", limit=CANDIDATES - len(LISTS)).rows
        return [
            *(Candidate(ref, label) for ref, label in LISTS.items()),
            *(Candidate(str(row["id"]), str(row["title"]), str(row["due_date"] or "")) for row in rows),
        ]

    def task(ref: str) -> Said:
        if ref in LISTS:
            found = records.tasks.list(ref, limit=100)
            named = "\n".join(f"- {_task(row)}" for row in found.rows)
            return LISTS[ref], f"{found.total:,} in all.\n{named}"
        row = _there(lambda: records.tasks.get(ref))
        return (str(row["title"]), _task(row)) if row and not row.get("deleted_at") else None

    def appointments() -> list[Candidate]:
        today = records.today()
        rows = records.appointments.list(today, today + timedelta(days=30), limit=CANDIDATES)
        return [
            *(Candidate(ref, label) for ref, label in AHEAD.items()),
            *(Candidate(str(row["id"]), str(row["title"]), str(row["day"])) for row in rows),
        ]

    def appointment(ref: str) -> Said:
        if ref in AHEAD:
            today = records.today()
            rows = records.appointments.list(today, today + timedelta(days=int(ref)), limit=100)
            return AHEAD[ref], "\n".join(f"- {row['day']}: {row['title']}" for row in rows) or "Nothing."
        row = _there(lambda: records.appointments.get(ref))
        if not row or row.get("deleted_at"):
            return None
        return str(row["title"]), lines({name: row[name] for name in ("start_time", "end_time") if row.get(name)})

    return (
        Source("todo", "task", "Tasks", tasks, task, action="own_day"),
        Source("calendar", "appointment", "Appointments", appointments, appointment, action="own_day"),
    )


def _task(row: Mapping[str, Any]) -> str:
    state = "completed" if row["completed_at"] else f"due {row['due_date']}" if row["due_date"] else "no date"
    return f"{row['title']} ({state}, priority {row['priority']}, id {row['id']})"


def _goals(mind: Reflection) -> list[Candidate]:
    goals = [goal for goal in mind.goals.list(0) if goal.status in ("active", "paused")]
    return [Candidate(goal.id, goal.title, goal.module) for goal in goals]


def _goal(mind: Reflection, ref: str) -> Said:
    found = next((goal for goal in mind.goals.list(7) if goal.id == ref), None)
    if found is None:
        return None
    target = found.target
    said = {
        "status": found.status,
        "module": found.module,
        "target": f"{target.comparison} {target.value:g} a {target.period}",
        "value now": found.value,
        "periods before": [f"{p.start}: {p.value}" for p in found.history],
    }
    return found.title, lines(said)


def _facts(mind: Reflection) -> list[Candidate]:
    return [Candidate(fact.id, fact.content, fact.category) for fact in mind.facts.list()]


def _fact(mind: Reflection, ref: str) -> Said:
    found = next((fact for fact in mind.facts.list(0.0) if fact.id == ref), None)
    return (found.category, f"{found.content} (confidence {found.confidence:.2f})") if found else None


def _dialogs(deps: Deps) -> list[Candidate]:
    rows = deps.dialogs.list(limit=CANDIDATES).rows
    return [Candidate(r.dialog_key, f"RU {r.ru_id or '?'}, TU {r.tu_id or '?'}", f"{r.chunks:,} chunks") for r in rows]


def _dialog(deps: Deps, key: str) -> Said:
    if deps.dialogs.get(key) is None:
        return None
    found = deps.dialogs.status([key])[key]
    dates = ("last_note_at", "last_message_at", "profile_updated_at", "photo_updated_at", "last_ingest_at")
    return "", lines({"chunks": dict(found.counts), **{name.replace("_", " "): getattr(found, name) for name in dates}})


def _diff(deps: Deps, records: Records, ref: str) -> Said:
    today: date = records.today()
    found = deps.snapshots.diff_days(today - timedelta(days=int(ref)), today, limit=1)
    names = ("dialogs", "added", "removed", "changed", "unchanged", "from_rows", "to_rows")
    return SPANS[ref], lines({name.replace("_", " "): getattr(found, name) for name in names})


def _usage(deps: Deps, ref: str) -> Said:
    period = last_days(RANGES[ref], deps.clock.now(), deps.zone)
    found = deps.usage.reports.summary(period, ("model",), deps.zone.key)
    said: dict[str, Any] = {"calls": found.total.tokens.calls, "tokens": found.total.tokens.total}
    models = folded(found.lines, ("model",))
    said["tokens by model"] = {str(key[0]): line.tokens.total for key, line in models.items()}
    return _ranges()[ref], lines(said)


def _health(deps: Deps, ref: str) -> Said:
    found = deps.monitor.timeline.history(int(ref))
    rows = [s for s in found.segments if s.status != "ok"]
    told = "\n".join(f"- {s.component}: {s.status}, {_when(s.starts)} to {_when(s.ends)}" for s in rows[-100:])
    return _hours()[ref], told or "Nothing was not well."


def _ranges() -> dict[str, str]:
    return {ref: f"Usage of {'today' if days == 1 else f'the last {days} days'}" for ref, days in RANGES.items()}


def _hours() -> dict[str, str]:
    return {ref: f"Health of {words}" for ref, words in HOURS.items()}


def _fixed(labels: Mapping[str, str]) -> Callable[[], Sequence[Candidate]]:
    return lambda: [Candidate(ref, label) for ref, label in labels.items()]


def _there(look: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any] | None:
    try:
        return look()
    except NotFound:
        return None


def _when(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"
