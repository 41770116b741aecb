"""Behind every chart there is its table."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).resolve().parents[3] / "pages"
# Charts whose table stands open on the page, right beside them: file, key of the chart, key of the table.
BESIDE = (
    ("_shared/search/across.py", "across-scores", "across-file"),
    ("_shared/tuning/rent.py", "rent-bars", "rent-sources"),
    ("_shared/companion/ai_usage.py", "{key}-chart", "Calls by day"),
    ("_shared/search/places.py", "scores", "places-file"),
    ("_shared/usage/lists.py", "waterfall", "usage-calls"),
    ("_shared/snapshots/coverage.py", "calendar", "coverage-cells"),
    ("_shared/chat/shown.py", "key", "{key}-rows"),
)


def charts_without_table() -> Iterator[tuple[str, str]]:
    """File and key of every chart that is drawn without a `table`."""
    for path in sorted(PAGES.rglob("*.py")):
        if path.name == "charts.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) not in ("charts.card", "st.plotly_chart"):
                continue
            given = {k.arg: ast.unparse(k.value).strip("f'\"") for k in node.keywords}
            if "table" not in given:
                yield path.relative_to(PAGES).as_posix(), given["key"]


def test_every_chart_has_its_table() -> None:
    """One click away in the card of the chart, or open beside it where the list above says so."""
    assert sorted(charts_without_table()) == sorted((file, key) for file, key, _ in BESIDE)
    for file, _, table in BESIDE:
        assert table in (PAGES / file).read_text(encoding="utf-8"), f"{file}: {table} is gone"
