"""The pages there are: file, title, icon and address, in the order of the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Place:
    """One page; `name` is its file and its address, `action` what its visitor must be allowed, `group` its heading."""

    name: str
    title: str
    icon: str
    action: str
    group: str

    @property
    def path(self) -> str:
        return str(ROOT / "pages" / f"{self.name}.py")


PLACES = (
    Place("overview", "Overview", ":material/space_dashboard:", "list_dialogs", "Memory"),
    Place("dialogs", "Dialogs", ":material/forum:", "read_dialog", "Memory"),
    Place("search", "Search", ":material/manage_search:", "search", "Memory"),
    Place("prompts", "Prompt audit", ":material/fact_check:", "retrievals", "Memory"),
    Place("tuning", "Tuning", ":material/balance:", "judgements", "Memory"),
    Place("snapshots", "Snapshots", ":material/photo_library:", "snapshots", "Memory"),
    Place("usage", "Usage", ":material/data_usage:", "usage", "Memory"),
    Place("today", "Today", ":material/today:", "own_day", "Companion"),
    Place("chat", "Chat", ":material/chat:", "chat", "Companion"),
    Place("todo", "Todo", ":material/checklist:", "own_day", "Companion"),
    Place("calendar", "Calendar", ":material/calendar_month:", "own_day", "Companion"),
    Place("drink", "Drink", ":material/local_drink:", "own_day", "Companion"),
    Place("food", "Food", ":material/restaurant:", "own_day", "Companion"),
    Place("places", "Places", ":material/place:", "own_day", "Companion"),
    Place("routines", "Routines", ":material/playlist_add_check:", "companion", "Companion"),
    Place("goals", "Goals", ":material/flag:", "companion", "Companion"),
    Place("insights", "Insights", ":material/insights:", "own_day", "Companion"),
    Place("missions", "Missions", ":material/rocket_launch:", "companion", "Companion"),
    Place("workbench", "Workbench", ":material/inbox:", "companion", "Companion"),
    Place("feed", "Feed", ":material/dynamic_feed:", "companion", "Companion"),
    Place("companion_settings", "Companion settings", ":material/settings_suggest:", "companion", "Companion"),
    Place("operations", "Operations", ":material/build:", "jobs", "Running it"),
    Place("health", "Health", ":material/monitor_heart:", "health", "Running it"),
    Place("activity", "Activity", ":material/history:", "events", "Running it"),
    Place("access", "Access", ":material/shield_person:", "access", "Running it"),
    Place("settings", "Settings", ":material/tune:", "settings", "Running it"),
)

# The order of the headings.
GROUPS = ("Memory", "Companion", "Running it")


def place(name: str) -> Place:
    return next(p for p in PLACES if p.name == name)
