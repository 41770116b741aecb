"""The parts of the Health page: one card per component, the migrations, the files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import streamlit as st

from core.health.report import Component, HealthReport
from pages._shared import formats, light, tables
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

ACROSS = 3
FIELDS = ("name", "label", "status", "reason", "hint", "since", "checked_at", "latency_ms")


def cards(report: HealthReport) -> None:
    """Every component in a grid, those that need somebody first."""
    order = ("down", "degraded", "unknown", "ok")
    ranked = sorted(report.components, key=lambda c: order.index(c.status))
    for start in range(0, len(ranked), ACROSS):
        for cell, component in zip(st.columns(ACROSS), ranked[start : start + ACROSS], strict=False):
            with cell, st.container(border=True, height="stretch", gap="xsmall", key=f"component-{component.name}"):
                card(component, report.checked_at)


def card(component: Component, now: datetime) -> None:
    """Status, reason, what to do; how long it has been so, and how long the check took."""
    with st.container(horizontal=True, vertical_alignment="center"):
        light.badge(component.status)
        st.markdown(f"**{component.label}**")
    st.text(component.reason)
    if component.hint and component.status != "ok":
        st.text(f"To do: {to_do(component.hint)}")
    since = formats.ago(component.since, now)
    st.caption(
        f"{component.status} since {since} · check took {formats.milliseconds(component.latency_ms)}",
        help=f"Since {formats.moment(component.since, my_zone())}, as seen by this process.",
    )
    facts = facts_of(component.facts)
    if facts:
        with st.expander("Facts", type="compact"):
            columns = (Column("what", "What"), Column("value", "Value"))
            tables.show(facts, columns, key=f"facts-{component.name}", zone="UTC", height="content")


def to_do(hint: str) -> str:
    """A hint as it stands on the Health page: without the way to it."""
    rest = re.sub(r",? or open Health\b[^.;]*", "", re.sub(r"^Open Health[;:.] *", "", hint))
    return rest[:1].upper() + rest[1:] or hint


def facts_of(facts: Mapping[str, Any]) -> list[dict[str, str]]:
    """Plain facts, one line each; lists joined, nothing for what is absent."""
    return [
        {"what": name.replace("_", " "), "value": _plain(value)}
        for name, value in facts.items()
        if value not in (None, [], (), {}, "")
    ]


def files(report: HealthReport) -> None:
    rows = [{name: getattr(component, name) for name in FIELDS} for component in report.components]
    tables.downloads(rows, FIELDS, name="health", key="health-file")


def migrations(found: Component) -> None:
    """What is pending, what would destroy rows, what the database has that is not ours."""
    facts = found.facts
    names = (("pending", "pending"), ("foreign", "recorded there, not of this product"))
    rows = [{"name": name, "state": words} for fact, words in names for name in facts.get(fact, ())]
    destructive = facts.get("destructive", {})
    rows += [{"name": name, "state": f"would {how} a table of memory"} for name, how in destructive.items()]
    if not rows:
        st.text(found.reason)
        return
    columns = (Column("name", "Migration", width="large"), Column("state", "State"))
    tables.show(rows, columns, key="migrations", zone=my_zone_name(), height="content")
    tables.downloads(rows, [c.field for c in columns], name="migrations", key="migrations-file")
    if found.hint:
        st.text(f"To do: {to_do(found.hint)}")


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(v)}" for name, v in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(_plain(v) for v in value)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
