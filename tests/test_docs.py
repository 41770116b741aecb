"""The pages for those who add something: every file they name is there, links lead somewhere, examples run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core.companion.contract import ModuleTool

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMED = re.compile(r"`((?:core|pages|tests|supabase)/[\w./-]+)`")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")
EXAMPLE = re.compile(r"```python\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_is_named_exists(page: Path) -> None:
    """Files and folders of the project by their path from its root; links and pictures beside the page."""
    text = page.read_text(encoding="utf-8")
    assert not [name for name in NAMED.findall(text) if not (ROOT / name).exists()]
    assert not [name for name in LINK.findall(text) if not (page.parent / name).exists()]


@pytest.mark.parametrize("page", [p for p in PAGES if EXAMPLE.search(p.read_text())], ids=lambda page: page.name)
def test_examples_run(page: Path) -> None:
    """As they stand, each by itself: the names they import and the fields they fill are those of today."""
    for source in EXAMPLE.findall(page.read_text(encoding="utf-8")):
        found: dict[str, object] = {"__name__": "example"}
        exec(compile(source, page.name, "exec"), found)
        for made in found.values():
            if isinstance(made, ModuleTool):
                assert made.execute({"title": "x"}).success


def test_every_page_is_linked() -> None:
    """From the README."""
    linked = set(LINK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    assert {f"docs/{page.name}" for page in PAGES[1:]} <= linked
