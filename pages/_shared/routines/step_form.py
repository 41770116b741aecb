"""The fields of one step in the editor, and what stands in them as a step: checked by the core, not here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from core.companion.contract import ModuleTool, Parameter
from core.companion.converse.rituals.step import LABEL_LIMIT, SOURCES
from pages._shared.literal import literal
from pages._shared.resources import core

Form = Mapping[str, Any]
KINDS = {
    "tool_call": "Run a tool",
    "number_input": "Ask for a number",
    "text_input": "Ask for a text",
    "mood_picker": "Ask for a mood, 1 to 5",
    "info_display": "Show figures",
    "checklist": "Tick a list",
}
LIMITS = {"min": "At least", "max": "At most", "default": "Default"}


def fields(form: Form) -> None:
    """The label, and what its kind needs; names of parameters stand as the tool has them."""
    config = form["config"]
    st.text_input("Label", form["label"], key=_key(form, "label"), max_chars=LABEL_LIMIT)
    if form["type"] == "info_display":
        options = list(SOURCES)
        at = options.index(config["source"]) if config.get("source") in options else None
        st.selectbox("What it shows", options, at, key=_key(form, "source"), format_func=SOURCES.__getitem__, width=320)
    elif form["type"] == "checklist":
        items = [item["label"] for item in config.get("items", ())]
        st.text_area("Items, one on a line", "\n".join(items), key=_key(form, "items"), height=120,
                     help="An item that has a tool keeps it as long as its words stay.")  # fmt: skip
    else:
        _tool_fields(form, config)


def collected(form: Form) -> dict[str, Any]:
    """The step as its fields hold it; a field that was not drawn yet leaves what there was."""
    config = dict(form["config"])
    if form["type"] == "info_display":
        config["source"] = _now(form, "source", config.get("source"))
    elif form["type"] == "checklist":
        config["items"] = _items(form, config)
    else:
        config = _tool_config(form, config)
    return {**form, "label": _now(form, "label", form["label"]), "config": config}


def _tool_fields(form: Form, config: Form) -> None:
    kind = form["type"]
    tools = {tool.name: tool for tool in core().companion.act.toolbox.all() if _mains(kind, tool)}
    names = list(tools)
    at = names.index(config["tool"]) if config.get("tool") in names else None
    left, right = st.columns(2)
    name = left.selectbox("Tool", names, at, key=_key(form, "tool"), placeholder="Choose a tool",
                          format_func=lambda n: f"{tools[n].label} ({tools[n].module})")  # fmt: skip
    if config.get("tool") and config["tool"] not in names:
        st.caption(f"This version has no tool {literal(str(config['tool']))} for such a step.")
    if name is None:
        return
    tool = tools[name]
    main = None
    if kind != "tool_call":
        options = [p.name for p in _mains(kind, tool)]
        at = options.index(config["param"]) if config.get("param") in options else 0
        main = right.selectbox("What is filled in", options, at, key=_key(form, f"param-{name}"))
    others = [p for p in tool.parameters if p.name != main]
    asked: list[str] = []
    if kind == "tool_call" and others:
        known = [p for p in config.get("ask", ()) if p in {o.name for o in others}]
        asked = right.multiselect(
            "Asked during the run", [p.name for p in others], known, key=_key(form, f"ask-{name}")
        )
    if others:
        _fixed(form, config, name, [p for p in others if p.name not in asked])
    if kind == "number_input":
        cells = st.columns(4)
        cells[0].text_input("Unit", config.get("unit", ""), key=_key(form, "unit"), max_chars=20)
        for cell, (limit, label) in zip(cells[1:], LIMITS.items(), strict=True):
            value = config.get(limit)
            cell.number_input(label, value=None if value is None else float(value), step=1.0, format="%g",
                              key=_key(form, limit))  # fmt: skip
    elif kind == "text_input":
        st.text_input(
            "Example in the field", config.get("placeholder", ""), key=_key(form, "placeholder"), max_chars=120
        )


def _fixed(form: Form, config: Form, name: str, others: list[Parameter]) -> None:
    base = config.get("params") or config.get("base_params") or {}
    take = config.get("take") or {}
    taken = _take(form, name, take)
    plain = [p for p in others if p.type not in ("array", "object") and p.name not in taken]
    with st.expander("Fixed values, and what is taken from earlier steps", expanded=bool(base or take)):
        for start in range(0, len(plain), 2):
            for cell, p in zip(st.columns(2), plain[start : start + 2], strict=False):
                label = f"{p.name} (needed)" if p.required else p.name
                value = base.get(p.name)
                if p.enum:
                    options = list(p.enum)
                    cell.selectbox(label, options, options.index(value) if value in options else None,
                                   key=_key(form, f"fix-{name}-{p.name}"), help=p.description)  # fmt: skip
                else:
                    cell.text_input(label, "" if value is None else str(value), key=_key(form, f"fix-{name}-{p.name}"),
                                    help=p.description)  # fmt: skip
        st.text_input(
            "Taken from earlier steps",
            ", ".join(f"{param} = {source}" for param, source in take.items()),
            key=_key(form, f"take-{name}"),
            help="parameter = tool.field, with commas between; for example preview_id = preview_cleanup.preview_id",
        )


def _tool_config(form: Form, before: Form) -> dict[str, Any]:
    kind, name = form["type"], _now(form, "tool", before.get("tool"))
    tool = core().companion.act.toolbox.find(name) if name else None
    if tool is None or _key(form, "tool") not in st.session_state:
        return dict(before)
    kept = before if before.get("tool") == name else {}
    base_name = "params" if kind == "tool_call" else "base_params"
    fixed = dict(kept.get(base_name) or {})
    for p in tool.parameters:
        key = _key(form, f"fix-{name}-{p.name}")
        if key in st.session_state:
            value = st.session_state[key]
            fixed.pop(p.name, None)
            if value not in (None, ""):
                fixed[p.name] = value
    config: dict[str, Any] = {"tool": name, "take": _take(form, name, kept.get("take") or {})}
    if kind == "tool_call":
        config["ask"] = list(_now(form, f"ask-{name}", kept.get("ask") or []))
    else:
        mains = _mains(kind, tool)
        config["param"] = _now(form, f"param-{name}", kept.get("param") or (mains[0].name if mains else None))
        fixed.pop(config["param"], None)
    elsewhere = {*config.get("ask", ()), *config["take"]}
    config[base_name] = {param: value for param, value in fixed.items() if param not in elsewhere}
    extra = {"number_input": ("unit", *LIMITS), "text_input": ("placeholder",)}.get(kind, ())
    config |= {field: _now(form, field, before.get(field)) for field in extra}
    return {field: value for field, value in config.items() if value not in (None, "", {}, [])}


def _take(form: Form, name: str, before: Form) -> dict[str, str]:
    written = _now(form, f"take-{name}", None)
    if written is None:
        return dict(before)
    pairs = [part.partition("=") for part in str(written).split(",") if part.strip()]
    return {param.strip(): source.strip() for param, _, source in pairs}


def _items(form: Form, config: Form) -> list[dict[str, Any]]:
    known = {item["label"]: item for item in config.get("items", ())}
    written = _now(form, "items", "\n".join(known))
    labels = [" ".join(line.split()) for line in str(written or "").splitlines()]
    return [known.get(label, {"label": label}) for label in labels if label]


_TAKES: Mapping[str, Callable[[Parameter], bool]] = {
    "number_input": lambda p: p.type in ("number", "integer"),
    "text_input": lambda p: p.type == "string" and not p.enum,
    "mood_picker": lambda p: (p.type in ("number", "integer") or (p.type == "string" and not p.enum)) and not p.pattern,
}


def _mains(kind: str, tool: ModuleTool) -> tuple[Any, ...]:
    """The parameters that such a step can fill in; for a plain call the tool itself stands for one."""
    return (tool,) if kind == "tool_call" else tuple(p for p in tool.parameters if _TAKES[kind](p))


def _key(form: Form, field: str) -> str:
    return f"step-{form['id']}-{field}"


def _now(form: Form, field: str, before: Any) -> Any:
    return st.session_state.get(_key(form, field), before)
