"""Lines of a label and a value, and what a tool gave: as plain text, for the tab in which it was pressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from typing import Any

import pandas as pd
import streamlit as st

MOST = 12
LOOK = """<style>
div[class*="st-key-routine-title-"] [data-testid="stText"], div[class*="st-key-routine-label-"] [data-testid="stText"] {
  font-weight: 600; white-space: pre-wrap; overflow-wrap: anywhere; }
div[class*="st-key-routine-step-"] [data-testid="stText"], .st-key-composed [data-testid="stText"] {
  white-space: pre-wrap; overflow-wrap: anywhere; }
div[class*="st-key-routine-lines"] [data-testid="stText"] { font-size: .875rem; }
div[class*="st-key-routine-lines"] > div > div:first-child [data-testid="stText"],
div[class*="st-key-routine-lines"] > div:first-child [data-testid="stText"] { opacity: .7; }
</style>"""


def lines(found: Sequence[tuple[str, str]], *, key: str, width: int = 170) -> None:
    """People's titles may stand on both sides: text, no Markdown."""
    for place, (label, value) in enumerate(found):
        with st.container(horizontal=True, gap="small", vertical_alignment="top", key=f"routine-lines-{key}-{place}"):
            st.text(label, width=width)
            st.text(value, width="stretch")


def show(ok: bool, message: str, data: Any, *, key: str) -> None:
    """What a press came to; that a step is done stands beside its label."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        if not ok:
            st.badge("not done", color="red")
        st.text(message, width="stretch")
    if data is None:
        return
    if is_dataclass(data) and not isinstance(data, type):
        data = asdict(data)
    plain = _flat(data) if isinstance(data, Mapping) else {}
    facts = [(str(name).replace("_", " "), str(value)) for name, value in plain.items() if _scalar(value)]
    rows = data if isinstance(data, (list, tuple)) else next((v for v in plain.values() if _rows(v)), ())
    if facts or _rows(rows):
        with st.expander("What it gave"):
            lines(facts[:MOST], key=f"gave-{key}")
            if _rows(rows):
                frame = pd.DataFrame([{k: str(v) for k, v in row.items() if _scalar(v)} for row in rows])
                st.dataframe(frame, hide_index=True, key=f"routine-rows-{key}")


def _flat(data: Mapping[str, Any]) -> dict[str, Any]:
    """One level of nesting taken out: the chunks of `tips` are `tips chunks`."""
    found: dict[str, Any] = {}
    for name, value in data.items():
        inner = value if isinstance(value, Mapping) else {"": value}
        found |= {f"{name} {part}".strip(): one for part, one in inner.items()}
    return found


def _scalar(value: Any) -> bool:
    return value is not None and not isinstance(value, (Mapping, list, tuple, set))


def _rows(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(row, Mapping) for row in value)
