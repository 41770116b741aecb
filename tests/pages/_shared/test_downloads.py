"""Files: one way out for all of them, asked about at the click, recorded once they are made."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.bootstrap import Core
from core.errors import Forbidden
from core.events.actor import LOCAL_OPERATOR, Actor
from core.services.veil import Reveal, View
from pages._shared import session, veil

ROOT = Path(__file__).resolve().parents[3]
HERE = View("usage")


@pytest.fixture
def who(core: Core, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Actor]]:
    """Whoever is here, as the last of the list."""
    acting = [LOCAL_OPERATOR]
    monkeypatch.setattr(session, "later", lambda: lambda: acting[-1])
    monkeypatch.setattr(veil, "core", lambda: core)
    monkeypatch.setattr(veil, "view", lambda: HERE)
    monkeypatch.setattr(veil, "lifted", lambda: None)
    yield acting


def recorded(core: Core) -> list[dict[str, Any]]:
    assert core.events.flush()
    return [dict(row.payload) for row in core.events.store.find(type="DataExported").rows]


def test_no_other_way_out() -> None:
    """Streamlit's own button is called in one place; no grid and no chart has a button of its own."""
    calls: dict[str, int] = {}
    bars: list[str] = []
    for path in sorted((ROOT / "pages").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if found := len(re.findall(r"\bdownload_button\(", text)):
            calls[path.name] = found
        charts = [m.start() for m in re.finditer(r"st\.plotly_chart\(", text)]
        bars += [path.name for at in charts if '"displayModeBar": False' not in text[at : at + 250]]
        assert not re.search(r"st\.(line|bar|area|scatter|altair|vega_lite|pydeck)_chart\(", text), path
    assert calls == {"downloads.py": 1}
    assert bars == []
    settings = (ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8")
    assert re.search(r"^disableDataExport = true", settings, re.MULTILINE)


def test_recorded_with_its_rows(core: Core, who: list[Actor]) -> None:
    """By the one who is here at the click."""
    assert veil.taking("calls")(lambda: (b"x", 7)) == b"x"
    assert recorded(core) == [{"page": "usage", "what": "calls", "rows": 7, "revealed": False}]


def test_what_was_not_made_is_not_recorded(core: Core, who: list[Actor]) -> None:
    """The database failed while the rows were read."""

    def fails() -> tuple[bytes, int]:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        veil.taking("calls")(fails)
    assert recorded(core) == []


def test_a_role_that_was_lost_since(core: Core, who: list[Actor]) -> None:
    """The button is still on the screen: nothing is made, and nothing recorded."""
    take = veil.taking("calls")
    who.append(replace(LOCAL_OPERATOR, roles=frozenset()))
    made: list[int] = []
    with pytest.raises(Forbidden):
        take(_making(made))
    assert made == [] and recorded(core) == []


def test_a_reveal_that_is_over(core: Core, who: list[Actor], monkeypatch: pytest.MonkeyPatch) -> None:
    """What was drawn unmasked is not given out masked-until-a-minute-ago."""
    reveal = Reveal(HERE, LOCAL_OPERATOR.principal_id, core.clock.now())  # until now
    monkeypatch.setattr(veil, "lifted", lambda: reveal)
    made: list[int] = []
    with pytest.raises(Forbidden, match="masked again"):
        veil.taking("calls")(_making(made))
    assert made == [] and recorded(core) == []


def _making(made: list[int]) -> Callable[[], tuple[bytes, int]]:
    def make() -> tuple[bytes, int]:
        made.append(1)
        return b"x", 1

    return make
