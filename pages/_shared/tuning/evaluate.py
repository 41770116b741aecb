"""Evaluate: profiles against a baseline on a query set, the verdict and its rule, and better boosts to try."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.jobs.job import Job
from core.memory.retrieval import Profile
from core.tuning.evaluations import AT_ONCE
from core.tuning.plan import PROFILES_MOST, Plan
from pages._shared import formats, parts, session
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.operations import jobs, outcome
from pages._shared.tuning import acting, better, choices, comparison, past, reading

FORM = "evaluate"
OPEN = "evaluation.open"


def show(head: Head) -> None:
    chosen = choices.query_set()
    if chosen is None:
        return
    jobs.ended()
    jobs.strip()
    read = reading.query_set(chosen.id)
    head.as_of(read.at)
    stale(read)
    if not read.value.queries:
        empty("The set has no query", "Add some under Query sets.")
        return
    plan = _plan(chosen.id)
    st.caption(
        f"{formats.count(chosen.with_relevant)} of {formats.plural(chosen.queries, 'query', 'queries')} have a "
        "relevant chunk; the others have no figure and are left out of every mean, for all profiles alike."
    )
    if plan is not None:
        if choices.draft() in plan.profiles:
            st.text(
                "“found here” was fitted to part of these queries: it is evaluated on the dialogs kept out alone. "
                "All of another set would say more."
            )
        parts.button(
            "evaluate",
            "Evaluate",
            key="evaluate-do",
            type="primary",
            icon=":material/balance:",
            on_click=_evaluate,
            args=(plan,),
        )
    _open(chosen.id)
    if plan is not None:
        better.show(plan)
    past.show(chosen.id, open_)


def _plan(set_id: str) -> Plan | None:
    lines = choices.profiles()
    names = list(lines)
    active = choices.active(lines)
    with st.container(border=True):
        left, right = st.columns((2, 3))
        baseline = left.selectbox("Baseline", names, index=names.index(active), key=f"baseline-{len(names)}")
        others = [name for name in names if name != baseline]
        picked = right.multiselect(
            "Compared with it",
            others,
            default=_first(others, lines),
            max_selections=PROFILES_MOST,
            key=f"compared-{len(names)}-{baseline}",
            placeholder="one profile or more",
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            metric, k = choices.metric()
            llm = choices.llm()
    return Plan(set_id, lines[baseline], tuple(lines[name] for name in picked) or (lines[baseline],), metric, k, llm)


def _first(others: list[str], lines: dict[str, Profile]) -> list[str]:
    """What is compared unless somebody chooses: what was just found here, else the first."""
    found = choices.draft()
    return next(([line] for line in others if found is not None and lines[line] == found), others[:1])


def _evaluate(plan: Plan) -> None:
    if plan.profiles == (plan.baseline,):
        outcome.say("warning", "Choose a profile to compare with the baseline.")
        return
    done = outcome.attempt("The evaluation", partial(acting.evaluate, plan, outcome.form_id(FORM)))
    if done is None:
        return
    outcome.new_form(FORM)
    if isinstance(done, Job):
        outcome.say(
            "started", f"More than {AT_ONCE} queries: it runs as a job and goes on if this tab is closed. It ends here."
        )
        session.remember(OPEN, None)
    else:
        session.remember(OPEN, (plan.query_set, tuple(one.id for one in done)))


def open_(set_id: str, id: str) -> None:
    """Show a stored evaluation."""
    session.remember(OPEN, (set_id, (id,)))


def _open(set_id: str) -> None:
    """What was evaluated last in this tab, or else last at all."""
    kept = session.remembered(OPEN, None)
    if kept and kept[0] == set_id:
        ids = kept[1]
    else:
        rows = reading.evaluations(set_id).value.rows
        ids = tuple(row.id for row in rows[:1])
    for number, id in enumerate(ids):
        comparison.show(reading.evaluation(id), number)
