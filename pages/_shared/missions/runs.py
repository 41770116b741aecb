"""The runs of a mission: where one is, what its steps came to, what a person says of it."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from core.companion.act.missions.mission import Iteration, Mission, Step
from pages._shared import formats, parts, session
from pages._shared.companion import inbox, seen
from pages._shared.fragments import fragment
from pages._shared.missions import reading, words
from pages._shared.operations import outcome
from pages._shared.resources import core
from pages._shared.zone import my_zone

WATCH_S = 2.0
LABEL_PX = 92
SAYS = "What it did, newest first. What you say of a run is in front of the next plan."


def show(mission: Mission, now: datetime) -> None:
    """While one runs it is looked at every two seconds, and the page is drawn anew at its end."""
    watched = words.running(mission)
    if words.lost(mission, now):
        st.text(
            "The process of its run does not answer any more. The run is closed with the next one, or by itself soon."
        )
    fragment(_list, run_every=WATCH_S if watched else None)(mission, watched)


def _list(mission: Mission, watched: bool) -> None:
    key = "mission-runs"
    read = reading.runs(mission.id, session.page_number(key))
    found = read.value
    if watched and not any(run.status == "running" for run in found.rows):
        reading.forget()
        st.rerun()
    st.markdown("**Runs**")
    if not found.rows:
        st.text("It has not run yet." if not found.total else "There are no runs on this page.")
    else:
        st.caption(SAYS)
    for n, run in enumerate(found.rows):
        _run(run, read.at, opened=n == 0)
    pages = -(-found.total // reading.RUNS)
    if pages > 1:
        st.pagination(pages, key=key, bind="query-params", width=280)


def _run(run: Iteration, now: datetime, *, opened: bool) -> None:
    began = formats.moment(run.started_at, my_zone())[:16]
    steps = formats.plural(len(run.steps), "step", "steps")
    label = f"{began} · {words.state(run.status)} · {steps} · {words.took(run, now)}"
    with st.expander(label, expanded=opened or run.status == "running"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(words.state(run.status), color=words.COLOURS[run.status])  # type: ignore[arg-type]
            where = "offline runner" if run.source == "server" else "application"
            st.caption(f"{formats.ago(run.started_at, now)} in the {where}{_by(run)}")
        if run.status == "running":
            _running(run, now)
        if run.error:
            phase = words.PHASES.get(run.error.get("phase", ""), "")
            st.text(f"{run.error.get('message') or run.error.get('name')}{f' ({phase})' if phase else ''}")
        if run.summary:
            st.text(run.summary)
        for notice in run.notices:
            st.caption(f":material/warning: {notice}")
        for step in run.steps:
            _step(step)
        _feedback(run)


def _by(run: Iteration) -> str:
    tiers = {"rules": "rules", "server": "own server", "cloud": "Gemini"}
    return f", planned by {tiers.get(run.tier, run.tier)}" if run.tier else ""


def _running(run: Iteration, now: datetime) -> None:
    since = max(0.0, (now - run.phase_at).total_seconds())
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"{words.PHASES.get(run.phase, run.phase).capitalize()} for {since:,.0f} s")
        if run.cancel_requested:
            st.caption("It stops at its next step.")
        else:
            parts.button(
                "change_missions",
                "Cancel",
                key=f"run-cancel-{run.id}",
                icon=":material/stop_circle:",
                on_click=_cancel,
                args=(run.id,),
            )


def _step(step: Step) -> None:
    tool = core().companion.act.toolbox.find(step.tool)
    plain = seen.shower(tool.module if tool else "", inbox.dialogs(tool, step.params))
    with st.container(border=True, gap="xsmall", key=f"step-{step.id}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(words.state(step.status), color=words.COLOURS[step.status])  # type: ignore[arg-type]
            st.text(tool.label if tool else step.tool)
        for name, value in inbox.parameters(tool, step.params):
            _line(name, plain(value))
        _line("why", plain(step.rationale or ""))
        _line("result", plain(step.message or ""))


def _line(label: str, value: str) -> None:
    if value:
        with st.container(horizontal=True, gap="small"):
            st.caption(label, width=LABEL_PX)
            st.text(value)


def _feedback(run: Iteration) -> None:
    if run.feedback:
        st.caption("what was said of it")
        st.text(run.feedback)
    if run.status == "running" or not session.may("change_missions"):
        return
    with st.popover("Say something of it" if not run.feedback else "Change what was said", icon=":material/comment:"):
        key = f"run-feedback-{run.id}"
        st.text_area("For the next plan", run.feedback or "", key=key, max_chars=2000)
        st.button("Keep it", key=f"run-keep-{run.id}", on_click=_keep, args=(run,))


def _cancel(id: str) -> None:
    """A callback."""
    asked = reading.attempt("Cancel the run", lambda actor: reading.missions().cancel(actor, id))
    if asked is False:
        outcome.say("note", "The run is over already.")


def _keep(run: Iteration) -> None:
    """A callback."""
    said = str(st.session_state.get(f"run-feedback-{run.id}") or "")
    reading.attempt("Keep what was said", lambda actor: reading.missions().feedback(actor, run, said))
