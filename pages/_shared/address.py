"""Choices that stand in the address under short codes, while the page shows them in words.

A widget that Streamlit binds to the address writes its labels there: a link would break with a better wording, or with
a number in a label that changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st


def segments(
    label: str,
    words: Mapping[str, str],
    key: str,
    *,
    default: str,
    on_change: Callable[[], None] | None = None,
    help: str | None = None,
    labelled: bool = True,
) -> str:
    """One of a few codes, each shown by its words; the default is left out of the address."""
    _read(key, words, default)
    chosen = st.segmented_control(
        label,
        list(words),
        required=True,
        format_func=words.__getitem__,
        key=key,
        on_change=on_change or "rerun",
        help=help,
        label_visibility="visible" if labelled else "collapsed",
    )
    _write(key, chosen or default, default)
    return chosen or default


def select(
    label: str,
    words: Mapping[str, str],
    key: str,
    *,
    default: str,
    width: int,
    on_change: Callable[[], None] | None = None,
    disabled: bool = False,
) -> str:
    """The same as a list of choices."""
    _read(key, words, default)
    chosen = st.selectbox(
        label,
        list(words),
        format_func=words.__getitem__,
        key=key,
        width=width,
        on_change=on_change or "rerun",
        disabled=disabled,
    )
    _write(key, chosen or default, default)
    return chosen or default


def pills(label: str, words: Mapping[str, str], key: str, *, on_change: Callable[[], None] | None = None) -> str | None:
    """One code or none."""
    _read(key, words, None)
    chosen = st.pills(label, list(words), format_func=words.__getitem__, key=key, on_change=on_change or "rerun")
    _write(key, chosen, None)
    return chosen


def given(key: str) -> str | None:
    """The code in hand before its widget is drawn: of the widget, or of the address."""
    kept = st.session_state[key] if key in st.session_state else st.query_params.get(key)
    return None if kept is None else str(kept)


def _read(key: str, words: Mapping[str, str], default: str | None) -> None:
    kept = given(key)
    wanted = kept if kept in words else default
    if key not in st.session_state or st.session_state[key] != wanted:
        st.session_state[key] = wanted


def _write(key: str, chosen: str | None, default: str | None) -> None:
    if chosen == default:
        st.query_params.pop(key, None)
    elif st.query_params.get(key) != chosen:
        st.query_params[key] = str(chosen)
