"""Parts that run by themselves act as the one who looks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.access.sessions import NotSignedIn
from core.events.actor import user

PAGES = Path(__file__).resolve().parents[3] / "pages"


def _drawn() -> None:
    import streamlit as st

    from core.events.actor import current_actor
    from pages._shared.fragments import fragment

    @fragment(run_every=60)
    def part() -> None:
        who = current_actor()
        st.text(f"{who.principal_id} {sorted(who.roles)}" if who else "nobody")

    part()


def test_as_the_person_with_the_roles_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked anew at each run, without the frame round it."""
    roles = ["tuner"]
    monkeypatch.setattr("pages._shared.session.actor", lambda: user("oidc:1", "Ann", roles))
    at = AppTest.from_function(_drawn).run()
    assert [t.value for t in at.text] == ["oidc:1 ['tuner']"]
    roles[:] = ["viewer"]
    assert [t.value for t in at.run().text] == ["oidc:1 ['viewer']"]


def test_where_the_sign_in_is_over_the_whole_page_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of the part is drawn; the frame then says why."""
    asked = []

    def actor() -> object:
        asked.append(1)
        if len(asked) == 1:
            raise NotSignedIn("expired", "Your sign-in has expired.")
        return user("oidc:1", "Ann", ["viewer"])

    monkeypatch.setattr("pages._shared.session.actor", actor)
    at = AppTest.from_function(_drawn).run()
    assert len(asked) == 2 and not at.exception


def test_no_part_runs_as_nobody() -> None:
    """Every fragment of the pages is one of these."""
    own = [
        f"{file.name}:{node.lineno}"
        for file in PAGES.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr == "fragment" and getattr(node.value, "id", "") == "st"
    ]
    assert [place.partition(":")[0] for place in own] == ["fragments.py"]
