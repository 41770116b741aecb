"""The missions there are: what each is, when it runs next, how its last run ended."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from core.companion.act.missions.mission import Mission
from pages._shared import formats
from pages._shared.missions import reading, words

OVER = "missions-over"
LOOK = """<style>
div[class*="st-key-mission-title-"] [data-testid="stText"] { font-weight: 600; white-space: pre-wrap;
  overflow-wrap: anywhere; }
</style>"""


def show(found: tuple[Mission, ...], chosen: Mission | None, now: datetime) -> None:
    st.html(LOOK)
    over = [one for one in found if one.state in ("done", "archived")]
    shown = [one for one in found if one not in over]
    if over and (st.toggle(f"Completed and archived too ({len(over)})", key=OVER) or not shown):
        shown += over
    for mission in shown:
        _card(mission, mission == chosen, now)


def _card(mission: Mission, chosen: bool, now: datetime) -> None:
    with st.container(border=True, gap="xsmall", key=f"mission-{mission.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"mission-title-{mission.id}"):
            st.text(mission.title)
            badge(mission)
        st.caption(f"{words.cadence(mission.cadence)}{_next(mission, now)}")
        st.caption(_last(mission, now))
        if chosen:
            st.caption("This one is shown.")
        else:
            st.button(
                "Show", key=f"mission-open-{mission.id}", icon=":material/chevron_right:", on_click=reading.choose,
                args=(mission.id,),
            )  # fmt: skip


def badge(mission: Mission) -> None:
    state = "running" if words.running(mission) else mission.state
    st.badge(words.state(state), color=words.COLOURS[state])  # type: ignore[arg-type]


def _next(mission: Mission, now: datetime) -> str:
    if mission.state != "active" or mission.next_run_at is None:
        return ""
    due = mission.next_run_at <= now
    return " · due now" if due else f" · next in {formats.ago(mission.next_run_at, now).removesuffix(' from now')}"


def _last(mission: Mission, now: datetime) -> str:
    if mission.latest is None:
        return "It has not run yet."
    waiting = f" · {formats.plural(mission.waiting, 'proposal waits', 'proposals wait')}" if mission.waiting else ""
    failing = f" · failed {mission.fail_count} times in a row" if mission.fail_count > 1 else ""
    when = formats.ago(mission.latest.started_at, now)
    return f"Last run {when}: {words.state(mission.latest.status)}{waiting}{failing}"
