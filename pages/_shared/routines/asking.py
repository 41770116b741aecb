"""The fields of a step in a run: what a person fills in, by the kind of each parameter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.companion.contract import Parameter
from core.companion.converse.rituals.answers import asked, known_from
from core.companion.converse.rituals.ritual import Ritual, Run
from core.companion.converse.rituals.step import MOODS, Step
from pages._shared.resources import core
from pages._shared.routines import results

TEXT_MOST = 2000
MOOD_WORDS = {1: "1 low", 2: "2", 3: "3", 4: "4", 5: "5 high"}


def fields(ritual: Ritual, run: Run, pos: int, step: Step, told: Mapping[str, Any]) -> None:
    """What is fixed or known already as lines, the rest as fields."""
    tool = core().companion.act.toolbox.find(step.tool or "")
    if tool is None:
        return
    known = known_from(step, pos, ritual.steps, run, told)
    fixed = {**step.base, **known}
    results.lines([(name.replace("_", " "), _plain(value)) for name, value in fixed.items()], key=f"fixed-{pos}")
    for p in asked(step, tool, known):
        _field(p, step, _key(run, pos, p.name), told.get(f"{tool.name}.{p.name}"))


def given(run: Run, pos: int, step: Step) -> dict[str, Any]:
    """What stands in the fields of a step, for a callback."""
    names = {*step.ask, *step.take}
    return {name: st.session_state[key] for name in names if (key := _key(run, pos, name)) in st.session_state}


def _field(p: Parameter, step: Step, key: str, before: Any) -> None:
    label, main = p.name.replace("_", " ").capitalize(), p.name == step.config.get("param")
    if main and step.type == "mood_picker":
        st.segmented_control(label, list(MOODS), key=key, format_func=MOOD_WORDS.__getitem__)
    elif main and step.type == "number_input":
        _number(p, step, key)
    elif p.enum:
        options = list(p.enum)
        st.selectbox(label, options, options.index(p.default) if p.default in options else None, key=key,
                     help=p.description, width=320)  # fmt: skip
    elif p.type in ("number", "integer"):
        st.number_input(
            label, value=None, key=key, help=p.description, width=320, step=1 if p.type == "integer" else None
        )
    elif p.type == "boolean":
        st.selectbox(label, ["true", "false"], None, key=key, help=p.description, width=320)
    elif p.type == "array":
        options = [str(one) for one in before] if isinstance(before, (list, tuple)) else []
        st.multiselect(label, options, key=key, help=p.description, accept_new_options=True)
    else:
        st.text_input(
            label,
            before if isinstance(before, str) else "",
            key=key,
            help=p.description,
            max_chars=min(p.max_length or TEXT_MOST, TEXT_MOST),
            placeholder=step.config.get("placeholder") if main else "YYYY-MM-DD" if p.name.startswith("date") else None,
        )


def _number(p: Parameter, step: Step, key: str) -> None:
    """Without limits of its own: what is out of range is said in words, not silently moved into it."""
    config = step.config
    unit = f" {config['unit']}" if "unit" in config else ""
    limits = [
        f"{word} {config[name]:g}{unit}" for name, word in (("min", "at least"), ("max", "at most")) if name in config
    ]
    default, whole = config.get("default"), p.type == "integer"
    st.number_input(
        f"{p.name.replace('_', ' ').capitalize()}{f' in {unit.strip()}' if unit else ''}",
        value=None if default is None else int(default) if whole else float(default),
        step=1 if whole else 1.0,
        format="%d" if whole else "%g",
        key=key,
        width=320,
        help=f"{', '.join(limits)}.".capitalize() if limits else p.description,
        placeholder=f"empty is {default:g}{unit}" if default is not None else None,
    )


def _key(run: Run, pos: int, name: str) -> str:
    return f"routine-{run.id}-{pos}-{name}"


def _plain(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
    return text if len(text) <= 200 else f"{text[:200]}…"
