"""Tables: which columns, in which order, with which unit; and the file of what they show.

A grid cannot show a second value on hover, so times stand there exactly, in the zone of the settings; figures say how
long ago. Days and somebody's text are text cells, drawn as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from pages._shared import downloads as files
from pages._shared import veil
from pages._shared.export import to_csv, to_json

Kind = Literal["text", "amount", "count", "score", "signed", "when", "day"]
FORMATS = {"count": "localized", "score": "%.3f", "signed": "%+.3f"}


@dataclass(frozen=True)
class Column:
    """A column of a table: the field of a row, its header with the unit, how it is drawn, its width in pixels."""

    field: str
    label: str
    kind: Kind = "text"
    width: int | Literal["small", "medium", "large"] | None = None
    help: str | None = None
    pinned: bool = False


def show(
    rows: Sequence[Mapping[str, Any]],
    columns: Sequence[Column],
    *,
    key: str,
    zone: str,
    select: bool = False,
    height: int | Literal["auto", "content"] = "auto",
    row_height: int | None = None,
) -> int | None:
    """Draws rows; with `select` gives the position of the row somebody chose (a click on any cell), else None."""
    shown = [veil.row(row) for row in rows]
    frame = pd.DataFrame({c.field: _values(shown, c) for c in columns})
    config = {c.field: _config(c, zone) for c in columns}
    options: dict[str, Any] = {"hide_index": True, "column_config": config, "height": height, "row_height": row_height}
    options["placeholder"] = "–"
    if not select:
        st.dataframe(frame, key=key, **options)
        return None
    state = st.dataframe(frame, key=key, on_select="rerun", selection_mode=["single-row", "single-cell"], **options)
    chosen = chosen_row(state)
    return chosen if chosen is not None and chosen < len(rows) else None


def chosen_row(state: Any) -> int | None:
    """The row of a selection, by its tick or by a cell."""
    selection = state["selection"]
    if selection.get("rows"):
        return int(selection["rows"][0])
    return int(selection["cells"][0][0]) if selection.get("cells") else None


def downloads(rows: Sequence[Mapping[str, Any]], fields: Sequence[str], *, name: str, key: str) -> None:
    """CSV and JSON of exactly these rows and fields, made when somebody clicks."""
    shown = [veil.row(row) for row in rows]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        for label, make, mime in (("CSV", to_csv, "text/csv"), ("JSON", to_json, "application/json")):
            guarded = " Texts that a spreadsheet would compute get an apostrophe in front." if label == "CSV" else ""
            files.button(
                label,
                partial(_file, make, shown, fields),
                what=name,
                file_name=f"{name}.{label.lower()}",
                mime=mime,
                key=f"{key}-{label.lower()}",
                help=f"{len(rows)} rows as shown.{guarded}",
            )


def _file(make: Callable[..., bytes], rows: Sequence[Any], fields: Sequence[str]) -> tuple[bytes, int]:
    return make(rows, fields), len(rows)


def _values(rows: Sequence[Mapping[str, Any]], column: Column) -> pd.Series:
    values = [row.get(column.field) for row in rows]
    if column.kind == "when":
        return pd.Series(pd.to_datetime(pd.Series(values, dtype="object"), utc=True, format="ISO8601"))
    if column.kind in FORMATS:
        return pd.Series(values, dtype="float64" if column.kind != "count" else "Int64")
    return pd.Series([None if v is None else _text(v) for v in values], dtype="object")


def _text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _config(column: Column, zone: str) -> Any:
    shared: dict[str, Any] = {
        "label": column.label,
        "width": column.width,
        "help": column.help,
        "pinned": column.pinned or None,
    }
    if column.kind == "when":
        return st.column_config.DatetimeColumn(**shared, format="YYYY-MM-DD HH:mm", timezone=zone)
    if column.kind in FORMATS:
        return st.column_config.NumberColumn(**shared, format=FORMATS[column.kind], alignment="right")
    return st.column_config.TextColumn(**shared, alignment="right" if column.kind == "amount" else None)
