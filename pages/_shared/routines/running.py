"""The runner: every step in its state, the one that is next with its fields. The state is the row of the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.companion.converse.rituals.ritual import Ritual, Run, StepState
from core.companion.converse.rituals.runner import Done
from core.companion.converse.rituals.sources import Info, read
from core.companion.converse.rituals.step import Step
from core.errors import CoreError
from core.events import Actor, run_as
from pages._shared import formats, parts, session, veil
from pages._shared.companion import mind
from pages._shared.feedback import boundary
from pages._shared.operations import outcome
from pages._shared.routines import asking, reading, results
from pages._shared.zone import my_zone

SAID = "routine-said"  # what steps of a run came to, for this tab alone
TOLD = "routine-told"  # what was typed in a run, for a later step of it, in this tab alone
FOCUS = "routine-focus"
COLOURS = {"done": "green", "failed": "red", "skipped": "gray", "running": "blue", "unavailable": "orange"}


def show(ritual: Ritual) -> None:
    run = _in_hand(ritual)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"routine-title-{ritual.id}"):
        st.html(results.LOOK)
        st.text(ritual.title)
        st.badge(reading.TRIGGERS[ritual.trigger], color="gray")
        if run is not None:
            st.badge(reading.RUNS[run.status], color=reading.COLOURS[run.status])  # type: ignore[arg-type]
    if run is None:
        _not_running(ritual)
        return
    infos = _infos(ritual, run)
    with run_as(session.actor()):
        run = reading.room().runner.shown(session.actor(), ritual, run, infos)
    st.progress(run.completed / run.total, text=f"{run.completed} of {formats.plural(run.total, 'step')} done")
    focus = _focus(ritual, run)
    for pos, step in enumerate(ritual.steps[: run.total]):
        with st.container(border=True, gap="xsmall", key=f"routine-step-{pos}"), boundary(f"Step {pos + 1}"):
            _step(ritual, run, pos, step, infos.get(pos), focus == pos)
    _foot(ritual, run)


def _in_hand(ritual: Ritual) -> Run | None:
    """The run under way, else the one that this tab has just ended."""
    if ritual.running is not None:
        session.remember(reading.RUN, ritual.running.id)
        return ritual.running
    if ritual.today is not None and ritual.today.id == session.remembered(reading.RUN, None):
        return ritual.today if ritual.today.version == ritual.version else None
    return None


def _not_running(ritual: Ritual) -> None:
    if ritual.description:
        st.text(ritual.description)
    for number, step in enumerate(ritual.steps, start=1):
        st.text(f"{number}. {step.label}")
    with st.container(horizontal=True, gap="small"):
        if ritual.status == "active":
            parts.button("run_rituals", "Start", key="routine-begin", type="primary", icon=":material/play_arrow:",
                      on_click=reading.start, args=(ritual,))  # fmt: skip
        st.button("Back to the list", key="routine-back", on_click=reading.close)


def _infos(ritual: Ritual, run: Run) -> dict[int, Info]:
    reached = reading.room().runner.reached(ritual, run)
    if not reached:
        return {}
    now = reading.room().now()
    found = {pos: read(ritual.steps[pos].config["source"], now) for pos in reached}
    return {pos: info for pos, info in found.items() if info is not None}


def _focus(ritual: Ritual, run: Run) -> int | None:
    """The step that is open: the one that somebody went back to, else the next."""
    if not run.open:
        return None
    back = session.remembered(f"{FOCUS}-{run.id}", None)
    if back is not None and run.state(back).status == "skipped":
        return int(back)
    return reading.room().runner.current(ritual, run)


def _step(ritual: Ritual, run: Run, pos: int, step: Step, info: Info | None, focused: bool) -> None:
    state = run.state(pos)
    available = reading.room().runner.available(step)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"routine-label-{pos}"):
        st.badge(str(pos + 1), color="primary" if focused else "gray")
        st.text(step.label)
        word = state.status if available or state.status == "done" else "unavailable"
        if word != "open":
            st.badge(word, color=COLOURS[word])  # type: ignore[arg-type]
    if info is not None:
        _shown(info, pos)
    if not available and state.status != "done":
        st.caption("This version cannot do this step. The routine goes on without it, and is not complete.")
        return
    said = session.remembered(f"{SAID}-{run.id}", {}).get(pos)
    if said is not None and said[1]:
        well, message, data = said
        results.show(well, message, veil.cover(data), key=f"{run.id}-{pos}")
    if state.status == "done":
        if state.at and step.type != "info_display":
            st.caption(f"at {formats.clock(state.at, my_zone())}")
    elif state.status == "running":
        st.caption("This runs, or the process that ran it is gone. Two minutes after its start it can be run again; "
                   "look first whether it was done.")  # fmt: skip
        st.button("Look again", key=f"routine-again-{pos}", icon=":material/refresh:")
    if step.type == "checklist" and (focused or state.items):
        _items(ritual, run, pos, step, state, focused)
    if focused and run.open:
        _fields(ritual, run, pos, step)
    elif state.status == "skipped" and run.open:
        st.button("Do it after all", key=f"routine-return-{pos}", type="tertiary",
                  on_click=session.remember, args=(f"{FOCUS}-{run.id}", pos))  # fmt: skip


def _shown(info: Info, pos: int) -> None:
    if not info.known:
        st.caption("These figures cannot be read now. Look again in a moment, or skip the step.")
    results.lines(info.lines, key=f"info-{pos}")


def _items(ritual: Ritual, run: Run, pos: int, step: Step, state: StepState, focused: bool) -> None:
    open_now = focused and run.open
    for number, item in enumerate(step.items):
        done = state.items.get(number, StepState()).status == "done"
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.button(
                "done" if done else "Tick", key=f"routine-tick-{pos}-{number}", disabled=done or not open_now,
                icon=":material/check_box:" if done else ":material/check_box_outline_blank:", type="tertiary",
                help=None if "tool" not in item else "Ticking it runs its tool.",
                on_click=tick, args=(ritual, run, pos, number),
            )  # fmt: skip
            st.text(item["label"], width="stretch")


def _fields(ritual: Ritual, run: Run, pos: int, step: Step) -> None:
    told = session.remembered(f"{TOLD}-{run.id}", {})
    if step.type not in ("info_display", "checklist"):
        asking.fields(ritual, run, pos, step, told)
    with st.container(horizontal=True, gap="small"):
        if step.type not in ("info_display", "checklist"):
            st.button(
                "Run" if step.type == "tool_call" else "Done", key=f"routine-do-{pos}", type="primary",
                icon=":material/play_arrow:" if step.type == "tool_call" else ":material/check:",
                on_click=do, args=(ritual, run, pos),
            )  # fmt: skip
        st.button("Skip", key=f"routine-skip-{pos}", type="tertiary", on_click=skip, args=(run, pos, step.label),
                  help="The routine goes on; it is not complete without this step.")  # fmt: skip


def _foot(ritual: Ritual, run: Run) -> None:
    with st.container(horizontal=True, gap="small"):
        if run.open:
            over = reading.room().runner.current(ritual, run) is None
            st.button(
                "Finish" if over else "Stop here", key="routine-finish", type="primary" if over else "secondary",
                icon=":material/flag:", on_click=finish, args=(ritual, run),
                help="Closes the run; what was done stays done and stands in the log.",
            )  # fmt: skip
        st.button("Back to the list", key="routine-back", on_click=reading.close,
                  help="The run stays as it is and can be continued." if run.open else None)  # fmt: skip


def do(ritual: Ritual, run: Run, pos: int) -> None:
    """A callback: run the step with what stands in its fields."""
    step = ritual.steps[pos]
    given = asking.given(run, pos, step)
    key = f"{TOLD}-{run.id}"
    told = {**session.remembered(key, {}), **{f"{step.tool}.{name}": value for name, value in given.items() if value}}
    session.remember(key, told)
    _press(run, pos, step.label, lambda actor: reading.room().runner.do(actor, ritual, run, pos, given, told))


def tick(ritual: Ritual, run: Run, pos: int, item: int) -> None:
    """A callback."""
    _press(run, pos, ritual.steps[pos].label, lambda actor: reading.room().runner.tick(actor, ritual, run, pos, item))


def skip(run: Run, pos: int, label: str) -> None:
    """A callback."""
    session.remember(f"{FOCUS}-{run.id}", None)
    mind.attempt(label, lambda actor: reading.room().runner.skip(actor, run, pos))


def finish(ritual: Ritual, run: Run) -> None:
    """A callback; the tab goes back to the list."""
    ended = mind.attempt(ritual.title, lambda actor: reading.room().runner.finish(actor, ritual, run))
    if ended is not None:
        outcome.say("done", f"{ritual.title}: {reading.RUNS[ended.status]}, {ended.completed} of {ended.total} steps.")
        reading.close()


def _press(run: Run, pos: int, label: str, act: Callable[[Actor], Done]) -> None:
    """Do it as the one who is here, and keep for this tab what there is to say at the step."""
    actor = session.actor()
    with boundary(label):
        try:
            with run_as(actor):
                done = act(actor)
        except CoreError as error:
            said: tuple[bool, str, Any] = (False, str(error), None)
        else:
            data = done.result.data if done.result is not None and done.outcome == "done" else None
            said = (done.outcome == "done", done.message, data)
        kept: Mapping[int, Any] = session.remembered(f"{SAID}-{run.id}", {})
        session.remember(f"{SAID}-{run.id}", {**kept, pos: said})
        mind.forget()
