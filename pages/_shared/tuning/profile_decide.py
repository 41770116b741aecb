"""One version: its evaluations, and the decision that it is ready for."""

from __future__ import annotations

import streamlit as st

from core.tuning.evaluations import Evaluation
from core.tuning.profiles import ProfileList, StoredProfile
from pages._shared import formats, parts, session
from pages._shared.operations import outcome
from pages._shared.search.sliders import PROPOSAL
from pages._shared.tuning import profile_reading, profile_words
from pages._shared.zone import my_zone

COLOURS = {"ship": "green", "worse": "red", "no evidence": "gray", "coverage too low": "orange"}


def show(found: ProfileList, chosen: StoredProfile) -> None:
    state = found.state(chosen.version)
    with st.container(border=True, key="one-profile"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.badge(f"version {chosen.version}: {state}", color="green" if state == "active" else "gray")
            if chosen.self_approved:
                st.badge("self-approved", color="orange", help="Proposer and approver are the same person.")
        st.text(f"{chosen.profile.name}. Boosts: {profile_words.boosts(chosen.profile)}", width="stretch")
        st.text(f"Rules: {profile_words.rules(chosen.profile)}")
        if chosen.note:
            st.text(chosen.note, width="stretch")
        for line in profile_words.origins(chosen, profile_reading.query_sets()):
            st.text(line, width="stretch")
        if state == "proposed":
            _proposed(chosen)
        elif state in ("approved", "retired"):
            _approved(chosen)
        parts.button("propose_profile", "Start a proposal from it", key="copy-profile", on_click=_copy, args=(chosen,))


def _proposed(chosen: StoredProfile) -> None:
    if chosen.query_set is None:
        st.text(
            "It names no labelled queries to be judged on, so that it cannot be approved. Propose it again with some."
        )
        return
    covered = profile_reading.evaluations(chosen.version, chosen.query_set)
    if not covered:
        st.text("No evaluation covers it yet: compare it under Evaluate, on the set it was proposed for.")
        return
    by_id = {one.id: one for one in covered}
    picked = st.selectbox("Its evaluations", list(by_id), format_func=lambda id: _option(by_id[id]), key="evaluation")
    one = by_id[picked]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(one.verdict, color=COLOURS.get(one.verdict, "gray"))  # type: ignore[arg-type]
        st.text(one.rule, width="stretch")
    if session.may("approve_profile"):
        st.text_input("Why yes", key="approve-note", max_chars=300, placeholder="optional")
    if one.verdict != "ship":
        st.warning("The evaluation does not speak for it. An approval is recorded together with this verdict.")
    parts.button(
        "approve_profile",
        "Approve because of this evaluation",
        key="approve",
        type="primary" if one.verdict == "ship" else "secondary",
        on_click=_approve,
        args=(chosen.version, one.id),
    )


def _approved(chosen: StoredProfile) -> None:
    if chosen.approved_at is None:
        st.text("It was in force without an approval of its own: the seed. Going back leads there.")
        return
    when = formats.moment(formats.parse(chosen.approved_at), my_zone())
    st.text(f"Approved by {chosen.approved_by}, {when}; verdict then: {chosen.verdict}.")
    parts.button(
        "activate_profile",
        f"Bring version {chosen.version} into force",
        key="activate",
        type="primary",
        icon=":material/bolt:",
        on_click=_activate,
        args=(chosen.version,),
    )


def _option(one: Evaluation) -> str:
    when = formats.moment(formats.parse(one.created_at), my_zone())
    against = f"version {one.baseline_version}" if one.baseline_version else "an unsaved profile"
    return f"{one.verdict}: {one.queries} queries, {one.coverage:.0%} judged, against {against}, {when}"


def _approve(version: int, evaluation: str) -> None:
    # Of the moment of the click: what was typed right before it is not in the page as it was last drawn.
    note = st.session_state.get("approve-note") or ""
    done = outcome.attempt("Approving", lambda: profile_reading.approve(version, evaluation, note))
    if done:
        how = " It is recorded as self-approved." if done.self_approved else ""
        outcome.say("done", f"Version {version} is approved.{how} It is not in force yet.")


def _activate(version: int) -> None:
    done = outcome.attempt("Bringing it into force", lambda: profile_reading.activate(version))
    if done:
        outcome.say("done", f"Version {version} is in force from now on, in place of version {done.from_version}.")


def _copy(chosen: StoredProfile) -> None:
    session.remember(PROPOSAL, chosen.profile)
