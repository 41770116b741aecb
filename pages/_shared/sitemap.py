"""The pages there are: file, title, icon and address, in the order of the navigation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Place:
    """One page; `name` is its file and its address, `action` what a visitor must be allowed to do."""

    name: str
    title: str
    icon: str
    action: str

    @property
    def path(self) -> str:
        return str(ROOT / "pages" / f"{self.name}.py")


PLACES = (
    Place("overview", "Overview", ":material/space_dashboard:", "list_dialogs"),
    Place("dialogs", "Dialogs", ":material/forum:", "read_dialog"),
    Place("search", "Search", ":material/manage_search:", "search"),
    Place("snapshots", "Snapshots", ":material/photo_library:", "snapshots"),
    Place("usage", "Usage", ":material/data_usage:", "usage"),
    Place("operations", "Operations", ":material/build:", "jobs"),
    Place("health", "Health", ":material/monitor_heart:", "health"),
    Place("activity", "Activity", ":material/history:", "events"),
    Place("settings", "Settings", ":material/tune:", "settings"),
)


def place(name: str) -> Place:
    return next(p for p in PLACES if p.name == name)
