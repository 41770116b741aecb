"""Profiles: which one is in force, how it does, every version, and the way of a new one from proposal to use."""

from __future__ import annotations

import streamlit as st

from core.tuning.profiles import ProfileList
from pages._shared import formats, tables
from pages._shared.feedback import stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.literal import words
from pages._shared.tables import Column
from pages._shared.tuning import profile_check, profile_decide, profile_propose, profile_reading, profile_words
from pages._shared.weights import APPLIES
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("version", "Version", "count", pinned=True, width=70),
    Column("state", "State", width=85),
    Column("name", "Name", width=150),
    Column("boosts", "Boosts", width=220),
    Column("rules", "Other rules", width=190),
    Column("query_set", "To be judged on", width=140),
    Column("verdict", "Verdict", width=110),
    Column("approved_by", "Approved by", width=170),
    Column("created_by", "Proposed by", width=130),
    Column("created_at", "Proposed", "when"),
)
FIELDS = (*(c.field for c in COLUMNS), "approved_at", "origin", "note")
HISTORY = (
    Column("version", "Version", "count", pinned=True, width=70),
    Column("kind", "How", width=90),
    Column("active_at", "From", "when"),
    Column("ended_at", "Until", "when"),
    Column("by", "By", width=150),
    Column("reason", "Reason"),
)


def show(head: Head) -> None:
    read = profile_reading.profiles()
    head.as_of(read.at)
    stale(read)
    found = read.value
    active = found.of(found.active)
    since = next((a for a in found.activations if a.ended_at is None), None)
    zone = my_zone()
    called = words(active.profile.name)  # somebody's text: a figure is Markdown
    figures(
        Figure("In force", f"version {active.version}", called, called),
        Figure(
            "Since",
            formats.moment(formats.parse(since.active_at), zone) if since else "–",
            None,
            f"{since.kind} by {since.by}" if since else None,
        ),
        Figure("One click back", "–" if found.previous is None else f"version {found.previous}"),
        Figure("Versions", formats.count(len(found.profiles)), "None is ever changed or deleted."),
    )
    left, right = st.columns(2)
    with left:
        _in_force(found)
    with right:
        profile_check.show(found)
    _versions(found)
    profile_propose.show(found)
    _history(found)


def _in_force(found: ProfileList) -> None:
    active = found.of(found.active)
    with panel(f"Version {active.version} decides", APPLIES):
        st.text(f"Boosts: {profile_words.boosts(active.profile)}")
        st.text(f"Rules: {profile_words.rules(active.profile)}")
        lines, says = profile_words.passes(active.profile)
        st.text("What the existing service would have to pass", help="To its own function, with every search.")
        if lines:
            st.code(lines, language=None, wrap_lines=True)
        st.caption(says)


def _versions(found: ProfileList) -> None:
    rows = profile_words.rows(found, profile_reading.query_sets())
    says = "Proposed, evaluated, approved, in force: a version goes through all four. Click one to decide about it."
    with panel("Versions", says):
        chosen = tables.show(
            rows,
            COLUMNS,
            key=f"profiles-{len(rows)}-{found.active}",
            zone=my_zone_name(),
            select=True,
            height="content",
        )
        tables.downloads(rows, FIELDS, name="profiles", key="profiles-file")
        if chosen is not None:
            profile_decide.show(found, found.profiles[chosen])


def _history(found: ProfileList) -> None:
    rows = [{c.field: getattr(one, c.field) for c in HISTORY} for one in found.activations]
    with panel("What was in force", "The latest first; each is an event with its actor as well."):
        tables.show(rows, HISTORY, key="activations", zone=my_zone_name(), height="content")
        tables.downloads(rows, [c.field for c in HISTORY], name="profiles-in-force", key="activations-file")
