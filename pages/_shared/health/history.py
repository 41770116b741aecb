"""How it was: up-time, the states of every component, how long the checks took."""

from __future__ import annotations

from typing import Any

import streamlit as st

from core.access import require
from core.events import run_as
from core.health.changes import OVERALL
from core.health.judging import COMPONENTS
from core.health.timeline import History, Uptime
from pages._shared import address, charts, formats, parts, session, tables
from pages._shared.feedback import empty, stale
from pages._shared.health import drawing, reading
from pages._shared.layout import Figure, figures, panel
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

RANGES = {"24": "24 hours", "168": "7 days", "720": "30 days"}
TIMED = ("auth", "database", "search")
WINDOWS = {24: "24 hours", 168: "7 days", 720: "30 days"}
DAILY = "health.daily"


def show() -> None:
    """Everything that looks back. Errors: CoreError."""
    hours = address.segments("Past", RANGES, "past", default="24")
    ups = reading.uptime()
    read = reading.history(int(hours))
    stale(read)
    _uptime(ups.value)
    found = read.value
    if not found.segments:
        empty("No history yet", "The first look is made half a minute after the start, then one every minute.")
        return
    labels = _labels(found)
    zone = my_zone()
    charts.card(
        f"States over {RANGES[hours]} (by component)",
        "A gap: nobody looked, the state is unknown. Kept for 30 days.",
        drawing.states(found, labels, zone),
        key="health-states",
        table=lambda: _segments(found, labels),
    )
    timed = {name: COMPONENTS[name][0] for name in TIMED}
    charts.card(
        "Time of the checks (ms)",
        "Mean of each stretch of time; a line ends where nothing was measured.",
        drawing.latency(found, timed, zone),
        key="health-latency",
        table=lambda: _latencies(found, timed),
    )


def daily(found: dict[str, Any] | None) -> None:
    """The checks that are made once a day, and now. Errors: CoreError."""
    says = "Totals compared with every row, and the vector index with a full scan for five stored vectors (sampled)."
    with panel("Daily checks", says):
        if parts.button(
            "health_check",
            "Make them now",
            key="daily",
            icon=":material/rule:",
            help="May take a minute on a large table.",
        ):
            actor = session.actor()
            require(actor, "health_check")
            with run_as(actor), st.spinner("Comparing"):
                found = core().monitor.daily.run()
            session.remember(DAILY, found)
        kept = session.remembered(DAILY, None)
        latest = max((f for f in (found, kept) if f), key=lambda f: f["at"], default=None)
        if latest is None:
            st.text("Not made yet on this database; the first run comes three minutes after the start.")
            return
        rows = [row for name in ("totals", "usage", "recall") if (row := _found(name, latest.get(name)))]
        columns = (Column("what", "What"), Column("found", "Found", width="large"))
        tables.show(rows, columns, key="daily-found", zone=my_zone_name(), height="content")
        at = formats.parse(latest["at"])
        st.caption(f"Made {formats.moment(at, my_zone())}, in {latest.get('seconds', 0):g} s.")


def _found(name: str, part: dict[str, Any] | None) -> dict[str, str] | None:
    titles = {"totals": "Totals of the memory", "usage": "Totals of usage", "recall": "Recall of the vector index"}
    if part is None:
        return {"what": titles[name], "found": "no answer"}
    if name != "recall":
        words = "equal to the rows" if part["equal"] else f"differ in {part['differing']:,} places"
        return {"what": titles[name], "found": words}
    if part.get("recall") is None:
        return {"what": titles[name], "found": "no rows to sample"}
    words = (
        f"{part['recall']:.1%} of the {part['k']} nearest, worst {part['worst']:.1%}, {part['sampled']} sampled; "
        f"{part['index_ms']:g} ms against {part['exact_ms']:g} ms exact"
    )
    return {"what": titles[name], "found": words}


def _uptime(found: reading.Uptimes) -> None:
    overall = {one.hours: one for one in found.get(OVERALL, ())}
    figures(*(Figure(f"Up, {words}", percent(overall.get(h)), _help(overall.get(h))) for h, words in WINDOWS.items()))


def percent(one: Uptime | None) -> str:
    """Never rounded up to 100 %: an outage stays visible."""
    share = one.share if one else None
    if share is None:
        return "unknown"
    return "100 %" if share == 1 else f"{int(share * 100000) / 1000:.3f} %"


def _help(one: Uptime | None) -> str:
    if one is None or one.share is None:
        return "Nobody looked in that time."
    return f"Share of the known time in which Auth and the chunk table worked; {one.covered:.1%} of the time is known."


def _labels(found: History) -> dict[str, str]:
    names = {s.component for s in found.segments}
    known = {name: label for name, (label, _) in COMPONENTS.items() if name in names}
    return {OVERALL: "All together"} | known if OVERALL in names else known


def _segments(found: History, labels: dict[str, str]) -> None:
    zone = my_zone()
    rows = [
        {
            "component": labels[s.component],
            "status": s.status,
            "code": s.code,
            "from": formats.moment(s.starts, zone),
            "to": formats.moment(s.ends, zone),
        }
        for s in found.segments
        if s.component in labels
    ]
    columns = tuple(Column(name, name.capitalize()) for name in ("component", "status", "code", "from", "to"))
    tables.show(rows, columns, key="health-segments", zone=my_zone_name())
    tables.downloads(rows, [c.field for c in columns], name="health-states", key="health-segments-file")


def _latencies(found: History, labels: dict[str, str]) -> None:
    zone = my_zone()
    rows = [
        {"component": labels[p.component], "at": formats.moment(p.at, zone), "mean": p.mean, "most": p.most}
        for p in found.latency
        if p.component in labels
    ]
    columns = (
        Column("component", "Component"),
        Column("at", "From"),
        Column("mean", "Mean (ms)", "score"),
        Column("most", "Longest (ms)", "score"),
    )
    tables.show(rows, columns, key="health-latencies", zone=my_zone_name())
    tables.downloads(rows, [c.field for c in columns], name="health-latency", key="health-latencies-file")
