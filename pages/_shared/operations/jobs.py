"""Jobs: those that run, with their progress and a stop; those that ended, with what they came to."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from core.errors import NotFound
from core.jobs.job import Job
from pages._shared import formats, reads, session, tables
from pages._shared.feedback import boundary, empty, stale
from pages._shared.fragments import fragment
from pages._shared.head import Head
from pages._shared.layout import panel
from pages._shared.operations import acting, outcome, reading, results
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

EVERY_S = 2.0
COLOURS = {"queued": "gray", "running": "blue", "cancelling": "orange", "done": "green", "failed": "red"}
COLUMNS = (
    Column("title", "Job", pinned=True),
    Column("state", "State"),
    Column("steps", "Steps", "amount", help="Done, and how many there are."),
    Column("summary", "Result", width=300),
    Column("by", "By"),
    Column("created_at", "Started", "when"),
    Column("finished_at", "Ended", "when"),
)
FIELDS = ("id", "title", "state", "done", "total", "summary", "by", "created_at", "finished_at")
ENDED = {"done": "done", "failed": "error"}


def ended() -> None:
    """Says what came of the jobs that this tab saw alive, or started, once they have ended."""
    with boundary("The ended jobs"):
        for id in acting.watched():
            try:
                job = core().jobs.get(id)
            except NotFound:  # pruned
                acting.unwatch(id)
                continue
            if job.live:
                continue
            acting.unwatch(id)
            found = results.words_of(job.error) if job.error else summary_of(job)
            title = f"{core().jobs.title(job.kind)}, {job.state}"
            said = f"{title}: {found.rstrip('.')}." if found else f"{title}."
            outcome.say(ENDED.get(job.state, "note"), f"{said} More of it stands under Jobs.")


def strip() -> None:
    """The running jobs, above every section; draws nothing while none runs."""
    with boundary("The running jobs"):
        _live(reading.running().value)


def show(head: Head) -> None:
    running = reading.running()
    head.as_of(running.at)
    _live(running.value)
    page = session.page_number("jobs-page")
    read = reading.jobs(page)
    stale(read)
    ended = [job for job in read.value.rows if not job.live]
    if not read.value.rows:
        empty(
            "No job has run yet", "Ingests of files, re-embedding and clean-up run as jobs, and are listed for 30 days."
        )
        return
    if not ended:
        return
    with panel("Ended jobs", "Newest first, kept for 30 days. Click a row for its result."):
        rows = [_row(job) for job in ended]
        chosen = tables.show(
            rows, COLUMNS, key=f"jobs-{page}-{ended[0].id}", zone=my_zone_name(), select=True, height="content"
        )
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            pages = -(-read.value.total // reads.PAGE)
            if pages > 1:
                st.pagination(pages, key="jobs-page", bind="query-params", width=280)
            tables.downloads(rows, FIELDS, name="jobs", key="jobs-file")
    if chosen is not None:
        results.detail(ended[chosen])


def _live(live: tuple[Job, ...]) -> None:
    """Redrawn every two seconds, alone, and only while something runs."""
    if live:
        acting.watch(*(job.id for job in live))
        fragment(_cards, run_every=EVERY_S)()


def _cards() -> None:
    with boundary("The running jobs"):
        live = reading.running().value
        if set(acting.watched()) - {job.id for job in live}:
            reads.refresh()
            reading.forget()
            st.rerun()  # one has ended: what the page shows is old; with the last one the timer stops
        for job in live:
            card(job)


def card(job: Job) -> None:
    """One job that is alive: state, progress, what is left as an estimate, and the way to stop it."""
    with st.container(border=True, gap="xsmall", key=f"job-{job.id}"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(job.state, color=COLOURS[job.state])  # type: ignore[arg-type]
            st.markdown(f"**{core().jobs.title(job.kind)}**")
            st.text(job.message)
            if core().jobs.may_cancel(job.kind):
                st.button(
                    "Stop",
                    key=f"stop-{job.id}",
                    icon=":material/stop_circle:",
                    type="tertiary",
                    disabled=job.state == "cancelling",
                    on_click=_stop,
                    args=(job.id,),
                    help="Ends between two steps. What was done stays done.",
                )
        st.progress(job.fraction)
        st.caption(" · ".join(part for part in _facts(job) if part))


def _facts(job: Job) -> tuple[str, ...]:
    now = datetime.now(UTC)
    rate, left = job.rate_per_s, job.remaining_s
    waits = "waits for a process to take it" if job.state == "queued" and job.started_at is None else ""
    if job.free and job.state != "queued":
        waits = "the process that had it is gone; another one takes it up within a minute"
    again = f"tries again after: {results.words_of(job.error)}" if job.state == "queued" and job.error else ""
    return (
        f"{job.done:,} of {job.total:,} steps" if job.total else f"{job.done:,} steps",
        f"{rate:,.1f} a second" if rate else "",
        f"~{duration(left)} left (estimate)" if left is not None else "",
        f"started {formats.ago(job.started_at, now)}" if job.started_at else "",
        f"by {job.actor.get('display_name', 'unknown')}",
        waits,
        again,
    )


def _row(job: Job) -> dict[str, Any]:
    return {
        "id": job.id,
        "title": core().jobs.title(job.kind),
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "steps": formats.count(job.done) + (f" of {job.total:,}" if job.total else ""),
        "summary": results.words_of(job.error) if job.error else summary_of(job),
        "by": job.actor.get("display_name"),
        "created_at": job.created_at,
        "finished_at": job.finished_at,
    }


def summary_of(job: Job) -> str:
    """Its counts in one line, without those that are zero."""
    return ", ".join(f"{results.word(name)} {value:,}" for name, value in results.counts_of(job).items() if value)


def duration(seconds: float) -> str:
    """40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def _stop(id: str) -> None:
    outcome.attempt("Stop", partial(acting.cancel_job, id))
