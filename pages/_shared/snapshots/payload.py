"""Payloads and their changes as a person reads them: null, missing and empty told apart, keys as they are."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import streamlit as st

from core.snapshots.fields import MISSING, FieldChange, code_points
from pages._shared import tables
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

WORDS = {"add": "added", "remove": "removed", "replace": "replaced"}
COLUMNS = (
    Column("place", "Field", width=170, pinned=True),
    Column("what", "What", width=130),
    Column("before", "Before", width=330),
    Column("after", "After", width=330),
)


def rows_of(changes: Sequence[FieldChange]) -> list[dict[str, str]]:
    """One line per operation, in the order in which they apply."""
    return [_row(change) for change in changes]


def show(changes: Sequence[FieldChange], *, key: str) -> None:
    """The changes as a table, with a file of them."""
    rows = rows_of(changes)
    tables.show(rows, COLUMNS, key=f"{key}-fields", zone=my_zone_name(), height="content")
    st.caption('A value that is not there is said to be missing; null, "" and {} are values.')
    tables.downloads(rows, [c.field for c in COLUMNS], name="field-changes", key=f"{key}-fields-file")


def shown(value: Any) -> str:
    """A value as JSON, character for character; what is not there as `missing`, without quotes."""
    return "missing" if value is MISSING else json.dumps(value, ensure_ascii=False)


def whole(payload: Any) -> None:
    """The payload in full."""
    st.code(json.dumps(payload, ensure_ascii=False, indent=2), language=None, wrap_lines=True)


def _row(change: FieldChange) -> dict[str, str]:
    if change.only_code_points:
        return {
            "place": change.place,
            "what": "code points only",
            "before": f"{shown(change.before)}  {code_points(change.before)}",
            "after": f"{shown(change.after)}  {code_points(change.after)}",
        }
    return {
        "place": change.place,
        "what": WORDS[change.op],
        "before": shown(change.before),
        "after": shown(change.after),
    }
