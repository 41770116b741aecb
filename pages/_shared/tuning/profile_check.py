"""The after-check of the active profile on live searches, and the one click back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from core.tuning.aftercheck import SEARCHES_LEAST, AfterCheck, Figures
from core.tuning.profiles import ProfileList
from pages._shared import formats, session, tables
from pages._shared.layout import panel
from pages._shared.operations import outcome
from pages._shared.tables import Column
from pages._shared.tuning import profile_reading
from pages._shared.zone import my_zone_name

COLUMNS = (
    Column("what", "Live searches", pinned=True, width=220),
    Column("now", "Now", width=130),
    Column("before", "Before", width=130),
)


def show(found: ProfileList) -> None:
    check = profile_reading.after_check().value
    if check.before is None:
        says = "Of the recorded searches. No other profile was in force before this one."
    else:
        says = f"Version {check.version} since it is in force, beside version {check.before_version} before it."
    with panel("After-check", says):
        _verdict(check)
        lines = rows(check)
        tables.show(lines, COLUMNS, key="after-check", zone=my_zone_name(), height="content")
        tables.downloads(lines, [c.field for c in COLUMNS], name="after-check", key="after-check-file")
        if found.previous is not None and session.may("activate_profile"):
            st.text_input("Why back", key="revert-reason", max_chars=300, placeholder="optional")
            st.button(
                f"Back to version {found.previous}",
                key="revert",
                icon=":material/undo:",
                on_click=_back,
                args=(found.active, found.previous),
                help="Its results return exactly as they were.",
            )


def _verdict(check: AfterCheck) -> None:
    if not check.enough:
        if check.before is not None:
            st.text(f"Too few searches to compare yet: {SEARCHES_LEAST} on both sides are needed.")
        return
    if not check.findings:
        st.badge("nothing stands out", color="green")
    for finding in check.findings:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge("look", color="orange")
            st.text(finding.says)


def rows(check: AfterCheck) -> list[dict[str, Any]]:
    """Each figure now and before, as texts; unknown is a dash."""
    share = "{:.0%}".format
    sources = sorted({*check.now.slots, *(check.before.slots if check.before else ())})
    shift = check.top_shift
    lines = [
        _line(check, "searches recorded", lambda f: formats.count(f.searches)),
        _line(check, "answered by words alone", lambda f: _said(f.fallback, share)),
        _line(check, "found nothing", lambda f: _said(f.empty, share)),
        _line(check, "returned chunks nobody judged", lambda f: _said(f.unjudged, share)),
        _line(check, "mean top score", lambda f: formats.score(f.top_mean)),
        _line(check, "mean tokens a prompt", lambda f: _said(f.tokens_mean, "{:,.0f}".format)),
        *(_line(check, f"places for {s}, mean", partial(_places, source=s)) for s in sources),
    ]
    if shift is not None:
        lines.insert(5, {"what": "shift of the top score", "now": f"{shift:+.2f} SD", "before": ""})
    return lines


def _line(check: AfterCheck, what: str, of: Callable[[Figures], str]) -> dict[str, Any]:
    return {"what": what, "now": of(check.now), "before": "–" if check.before is None else of(check.before)}


def _places(figures: Figures, *, source: str) -> str:
    return f"{figures.slots.get(source, 0.0):.1f}" if figures.searches else "–"


def _said(value: float | None, shape: Callable[[float], str]) -> str:
    return "–" if value is None else shape(value)


def _back(active: int, previous: int) -> None:
    # Of the moment of the click: what was typed right before it is not in the page as it was last drawn.
    reason = st.session_state.get("revert-reason") or ""
    if outcome.attempt("Going back", lambda: profile_reading.revert(active, reason)):
        outcome.say("done", f"Version {previous} is in force again.")
