"""What an AI may do by itself, after a yes, or not at all: of a part of the product, and of each of its tools."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.companion.act.policy import DECISIONS, Policies, PolicySet
from core.companion.contract import Decision, Module, ModuleTool
from pages._shared import address
from pages._shared.companion_settings.acting import change
from pages._shared.layout import panel
from pages._shared.resources import core

WORDS = {"auto": "may", "propose": "asks first", "deny": "may not"}
OWN = "own"
CHOICES = (OWN, *DECISIONS)


def policies() -> Policies:
    return core().companion.act.policies


def show() -> None:
    found = policies().current()
    modules = {m.name: m for m in core().companion.modules if m.tools}
    st.caption(
        "People always may. What you say of a tool comes before what you say of its part; without either its own rule "
        "holds. A tool for people only stays so."
    )
    labels = {name: f"{module.label} ({len(module.tools)})" for name, module in modules.items()}
    name = address.select("Part of the product", labels, "part", default=next(iter(labels)), width=260)
    module = modules[name]
    with panel(module.label, "Of everything here that changes something; reads it can only forbid."):
        _choice(
            f"policy-module-{name}", found.modules.get(name), "its tools' own rules", module=name, label="All of it"
        )
    with panel("Tools", "In brackets what holds without a word of yours."):
        for tool in module.tools:
            _tool(found, module, tool)


def _tool(found: PolicySet, module: Module, tool: ModuleTool) -> None:
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        st.markdown(f"**{tool.label}**")
        st.caption(f"{tool.description} {'Reads.' if tool.read_only else 'Changes something.'}")
    with right:
        if tool.default_policy == "deny":
            st.text("for people only")
            return
        said = found.tools.get(tool.name)
        without = PolicySet(modules=found.modules).decide(tool)
        _choice(f"policy-tool-{tool.name}", said, f"({WORDS[without]})", tool=tool, label=tool.label)


def _choice(
    key: str,
    said: Decision | None,
    own: str,
    *,
    label: str,
    tool: ModuleTool | None = None,
    module: str | None = None,
) -> None:
    st.session_state[key] = said or OWN
    st.segmented_control(
        label,
        CHOICES,
        format_func=lambda code: WORDS.get(code, own),
        required=True,
        key=key,
        on_change=_say,
        args=(key, label, tool.name if tool else None, module),
        label_visibility="collapsed",
    )


def _say(key: str, label: str, tool_name: str | None, module: str | None) -> None:
    wanted = st.session_state[key]
    decision: Decision | None = wanted if wanted in DECISIONS else None
    tool = core().companion.act.toolbox.find(tool_name) if tool_name else None
    said = f"{label}: an AI {WORDS[decision]} from now on." if decision else f"{label}: its own rule from now on."
    change(label, partial(policies().override, decision, tool=tool, module=module), said)
