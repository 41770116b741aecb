"""Roles: the rules by which somebody has one, a form for another rule, and the table of what each role may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import streamlit as st

from core.access import ACTIONS, ROLES, Role
from core.access.rules import RoleRule, overruled
from pages._shared import tables
from pages._shared.access import acting, who
from pages._shared.feedback import empty
from pages._shared.layout import panel
from pages._shared.resources import core, settings
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

MEANS: dict[Role, str] = {
    "viewer": "reads, masked, and exports what is shown",
    "auditor": "viewer, and may see personal data with a reason, and Activity",
    "tuner": "viewer, and judges, evaluates and changes retrieval profiles",
    "operator": "viewer, and ingests, cleans up, merges, erases and runs jobs",
    "admin": "everything: alone roles, tokens, prices, budget and what an AI may do",
    "owner": "the one whose own day the companion keeps",
}
KINDS = {"email": "address", "claim": "claim", "domain": "domain"}
FIELDS = ("value", "kind", "roles", "from", "by", "at")


def show() -> None:
    rules = core().access_desk.rules()
    _how()
    with panel(
        "Rules",
        "An address comes before a claim, a claim before a domain; within these the settings come before what is said "
        "here.",
    ):
        _rules(rules)
    with panel("Say who may what", "The rule of the same address, domain or claim is replaced."):
        _form()
    with panel("What each role may", "Somebody with several roles may what any of them may."):
        _table()


def _how() -> None:
    given = settings()
    if not who.sign_in():
        local = ", ".join(sorted(given.local_roles)) or "none"
        st.info(
            f"Sign-in is not set up: whoever opens this has the roles of MEMORY_DESK_LOCAL_ROLE ({local}). "
            "Rules hold as soon as people sign in."
        )
        return
    least = given.default_role or "viewer, and none where anybody can have an account"
    st.caption(f"Whoever no rule is about has the least role: {least} (MEMORY_DESK_DEFAULT_ROLE).")


def _rules(rules: Sequence[RoleRule]) -> None:
    if not rules:
        empty("No rule yet", "Everybody who signs in has the least role. Say below who has more.")
        return
    rows = [_row(rule, rules) for rule in rules]
    columns = (
        Column("value", "Who", pinned=True, width=240),
        Column("kind", "By", width=80),
        Column("roles", "Roles", width=180),
        Column("from", "From", width=200),
        Column("by", "Set by", width=140),
        Column("at", "At", "when"),
    )
    chosen = tables.show(rows, columns, key="access-rules", zone=my_zone_name(), select=True)
    tables.downloads(rows, FIELDS, name="roles", key="access-rules-file")
    if chosen is None:
        st.caption("Choose a rule to drop it.")
    elif (id := rules[chosen].id) is None:
        st.text("This rule stands in the settings: change it there, and start anew.")
    else:
        st.text(f"{rules[chosen].value}: {rows[chosen]['roles']}")
        with st.popover("Drop this rule"):
            st.text("Whoever it is about has from then on what other rules say, or the least role.")
            sure = _sure("drop")
            st.button("Drop it", key="rule-drop", type="primary", on_click=acting.drop_rule, args=(id, sure))


def _row(rule: RoleRule, rules: Sequence[RoleRule]) -> dict[str, Any]:
    origin = "settings" if rule.origin == "configuration" else "here"
    return {
        "value": rule.value,
        "kind": KINDS[rule.kind],
        "roles": ", ".join(sorted(rule.roles)),
        "from": "here, overruled by the settings" if overruled(rule, rules) else origin,
        "by": rule.by or None,
        "at": rule.at,
    }


def _form() -> None:
    st.text_input(
        "Who", key="rule-who", placeholder="ann@example.org, @example.org or groups=ops", max_chars=254, width=420
    )
    st.pills("Roles", get_args(Role), selection_mode="multi", key="rule-roles")
    sure = _sure("set")
    st.button("Save", key="rule-save", type="primary", on_click=_save, args=(sure,))


def _save(sure: bool) -> None:
    if acting.set_rule(st.session_state["rule-who"] or "", st.session_state["rule-roles"] or [], sure):
        st.session_state["rule-who"], st.session_state["rule-roles"] = "", []


def _sure(key: str) -> bool:
    """Asked only of somebody who was about to take away their own role."""
    if not st.session_state.get(acting.SURE):
        return False
    return st.checkbox("I mean it: take away my own role of an administrator", key=f"rule-sure-{key}")


def _table() -> None:
    for role, means in MEANS.items():
        st.markdown(f"**{role}**: {means}.")
    rows = [
        {"does": action.does, **{role: "yes" if name in ROLES[role] else None for role in MEANS}}
        for name, action in ACTIONS.items()
    ]
    columns = (Column("does", "May", pinned=True, width=380), *(Column(role, role, width=80) for role in MEANS))
    tables.show(rows, columns, key="access-actions", zone=my_zone_name(), height=420)
    tables.downloads(rows, ("does", *MEANS), name="what-each-role-may", key="access-actions-file")
