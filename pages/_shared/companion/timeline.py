"""What AIs did, iteration by iteration: why, who, when, what came of it; and the way to take it back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import streamlit as st

from core.bootstrap import Core
from core.companion.act.revert import Reverted
from core.companion.act.timeline import EVENTS, MOST, Bucket, Done, Work
from core.events import run_as
from core.events.owned import OWN_DAY
from pages._shared import address, formats, layout, reads, session, tables
from pages._shared.companion import deciding, mind, seen
from pages._shared.feedback import empty
from pages._shared.layout import Figure
from pages._shared.literal import literal, words
from pages._shared.operations import outcome
from pages._shared.parts import button
from pages._shared.reads import Read
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

DAYS = {"7d": "7 days", "30d": "30 days", "90d": "90 days", "all": "all"}
ASKED, MORE = "workbench-take-back", "workbench-all-events"
CARDS = 15
COLUMNS = (
    Column("at", "When", "when"),
    Column("event", "What", width=200),
    Column("about", "About", width=220),
    Column("module", "Part"),
    Column("state", "Taken back", width=110),
    Column("reason", "Why not", width=320),
)
FIELDS = ("at", "type", "about", "module", "record_id", "state", "reason")
STATES = {"reverted": "yes", "failed": "no", "running": "under way", None: ""}


def choose() -> datetime | None:
    """The first moment to look at, None for all; in whole hours, so that the answer can be kept."""
    span = address.segments("From the last", DAYS, "span", default="30d", labelled=False)
    if span == "all":
        return None
    now = core().clock.now().replace(minute=0, second=0, microsecond=0)
    return now - timedelta(days=int(span.removesuffix("d")))


def read(mission: str | None, module: str | None, since: datetime | None) -> Read[Work]:
    """Errors: CoreError."""
    limit = MOST if session.remembered(MORE, False) else EVENTS
    key = (mission, module, since, limit)
    return reads.standing(("ai-work", *key), lambda: _work(core(), *key))


@st.cache_data(ttl=5, max_entries=16, show_spinner=False)  # a revert clears it
def _work(_core: Core, mission: str | None, module: str | None, since: datetime | None, limit: int) -> Read[Work]:
    found = _core.companion.act.timeline.read(mission_id=mission, module=module, since=since, limit=limit)
    return Read(found, _core.clock.now())


def show(found: Read[Work]) -> None:
    work = found.value
    if not work.buckets:
        empty(
            "No AI has done anything here",
            "What missions, the chat and the weekly look do stands here, by run, with its reason. Widen the filters, "
            "or start a mission.",
        )
        return
    changed = sum(sum(bucket.changes().values()) for bucket in work.buckets)
    layout.figures(
        Figure("Runs", formats.count(len(work.buckets)), "Iterations of missions, and turns of a conversation."),
        Figure("Changes", formats.count(changed), "Events after which something was different."),
        Figure(
            "Taken back",
            formats.count(sum(e.outcome == "reverted" for b in work.buckets for e in b.events)),
            "Changes that a person took back.",
        ),
    )
    page = min(session.page_number("timeline-page"), -(-len(work.buckets) // CARDS))
    for bucket in work.buckets[(page - 1) * CARDS : page * CARDS]:
        _card(bucket, found.at)
    if len(work.buckets) > CARDS:
        st.pagination(-(-len(work.buckets) // CARDS), key="timeline-page", bind="query-params", width=280)
    if work.more:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"The latest {sum(len(b.events) for b in work.buckets):,} events are shown.")
            if not session.remembered(MORE, False):
                st.button(f"Up to {MOST:,}", on_click=partial(session.remember, MORE, True), type="tertiary")


def _card(bucket: Bucket, now: datetime) -> None:
    name = f"{bucket.mission_id}/{bucket.iteration_id}"
    with st.container(border=True, gap="small", key=f"work-{bucket.events[0].seq}"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge("AI", color="violet", icon=":material/smart_toy:")
            st.markdown(f"**{_title(bucket)}**")
        st.caption(
            f"{words(bucket.agent)} · {formats.moment(bucket.first_at, my_zone())[:16]}, "
            f"{formats.ago(bucket.first_at, now)} · {formats.plural(bucket.total, 'event')}",
            help=f"Mission {literal(bucket.mission_id)}, iteration {literal(bucket.iteration_id)}.",
        )
        modules = {event.module for event in bucket.events}
        st.text(seen.shower(next(iter(modules & OWN_DAY), ""), _dialogs(bucket))(bucket.rationale))
        st.text(_summary(bucket))
        with st.expander(f"What happened ({len(bucket.events):,})"):
            rows = [_row(event) for event in bucket.events]
            key = f"events-{bucket.events[0].seq}"
            tables.show(rows, COLUMNS, key=key, zone=my_zone_name(), height="content")
            tables.downloads(rows, FIELDS, name="ai-events", key=f"{key}-file")
        if session.remembered(ASKED, None) == name:
            _confirm(bucket, name)
        elif any(event.changes and event.outcome != "reverted" for event in bucket.events):
            asked = partial(session.remember, ASKED, name)
            button(
                "revert_ai", "Take back…", key=f"ask-{name}", icon=":material/undo:", type="tertiary", on_click=asked
            )


def _dialogs(bucket: Bucket) -> list[str]:
    return sorted({str(event.payload["dialog_key"]) for event in bucket.events if event.payload.get("dialog_key")})


def _title(bucket: Bucket) -> str:
    """As Markdown: our own words, or somebody's as they are."""
    if bucket.mission_title:
        return words(bucket.mission_title)
    if bucket.mission_id.startswith("chat:"):
        return "A conversation"
    return "The weekly look at counts" if bucket.mission_id == "extraction" else words(bucket.mission_id)


def _summary(bucket: Bucket) -> str:
    changes = bucket.changes()
    said = _counts(changes) if changes else "No change yet."
    back = sum(event.outcome == "reverted" for event in bucket.events)
    said += f" Taken back: {back}." if back else ""
    waits = [f"{n} {'waiting' if s == 'pending' else s}" for s, n in sorted(bucket.proposals.items())]
    return f"{said} Proposals: {', '.join(waits)}." if waits else said


def _counts(types: Mapping[str, int]) -> str:
    return f"{', '.join(f'{n} × {formats.event(t).lower()}' for t, n in sorted(types.items()))}."


def _row(event: Done) -> dict[str, Any]:
    said = event.payload
    title = said.get("title") or said.get("name")
    about = (seen.shower(event.module)(str(title)) if title else None) or said.get("tool") or event.record_id
    return {
        "at": event.at,
        "event": formats.event(event.type),
        "type": event.type,
        "about": about,
        "module": event.module,
        "record_id": event.record_id,
        "state": STATES[event.outcome],
        "reason": event.reason,
    }


def _confirm(bucket: Bucket, name: str) -> None:
    """What will be taken back, and what cannot be: said before anybody presses. Of the whole iteration."""
    plan = core().companion.act.reverts.plan(bucket.mission_id, bucket.iteration_id)
    number = sum(plan.undoable.values())
    with st.container(border=True, gap="xsmall", key="take-back"):
        st.markdown("**Take back what this run did**")
        if number:
            st.text(f"Will be taken back, newest first: {_counts(plan.undoable)}")
        if plan.unsupported:
            st.text(f"Cannot be taken back: {_counts(plan.unsupported)}")
        if plan.reverted:
            st.text(f"Taken back already: {plan.reverted}.")
        st.caption("It is done in your name and stands in the log. What somebody changed since stays as it is.")
        with st.container(horizontal=True, gap="small"):
            label = f"Take back {formats.plural(number, 'change')}" if number else "Nothing to take back"
            act = partial(_revert, bucket.mission_id, bucket.iteration_id)
            st.button(label, key="take-back-now", type="primary", disabled=not number, on_click=act)
            st.button("Cancel", key="take-back-not", on_click=partial(session.remember, ASKED, None))


def _revert(mission_id: str, iteration_id: str) -> None:
    """A callback."""
    session.remember(ASKED, None)
    try:
        with run_as(session.actor()):
            act = partial(core().companion.act.reverts.revert, mission_id, iteration_id)
            done = outcome.attempt("Take back", act)
    finally:
        _work.clear()
        mind.forget()
        deciding.forget()
        reads.forget_dialogs()
    if done is not None:
        _tell(done)


def _tell(done: Reverted) -> None:
    parts = [f"{done.reverted} of {formats.plural(done.total, 'change')} taken back"]
    parts += [f"{done.already} before"] if done.already else []
    parts += [f"{done.skipped_unsupported} cannot be"] if done.skipped_unsupported else []
    parts += [f"{done.failed} {'stays as it is' if done.failed == 1 else 'stay as they are'}"] if done.failed else []
    outcome.say("warning" if done.failed else "done", f"{', '.join(parts)}.")
    for failure in done.failures[:10]:
        outcome.say("note", f"{formats.event(failure.type)}: {failure.reason}")
