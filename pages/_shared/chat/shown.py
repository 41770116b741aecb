"""An answer by rules as it is shown: words, lines under the page they come from, a table, a chart."""

from __future__ import annotations

from typing import Any, Literal

import plotly.graph_objects as go
import streamlit as st

from core.companion.converse.rules_tier.answer import Chart, RuleAnswer, Source, Table
from pages._shared import charts, formats, tables
from pages._shared.sitemap import PLACES, place
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

KNOWN = frozenset(p.name for p in PLACES)
MANY, LINE, HEAD = 16, 35, 36  # rows of a table that does not scroll; pixels of a row, of the head


def answer(found: RuleAnswer, key: str) -> None:
    """Somebody's words in it stand as they are. `key` tells its widgets from those of other answers."""
    st.text(found.says)
    for part in found.parts:
        with st.container(gap="xsmall"):
            st.text("\n".join(f"• {line}" for line in part.lines))
            if found.table is None or part.source != found.table.source:
                source(part.source)  # else it stands under the table, for both
    if found.table is not None:
        _table(found.table, f"table-{key}")
        source(found.table.source)
    if found.chart is not None:
        _chart(found.chart, f"chart-{key}")
        if found.table is None or found.chart.source != found.table.source:
            source(found.chart.source)


def source(given: Source) -> None:
    """The page that shows the figures above, with what of it and as of when."""
    when = formats.moment(given.as_of, my_zone())[:16]
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        if given.page in KNOWN:
            here = place(given.page)
            st.page_link(here.path, label=here.title, icon=here.icon)
        st.caption(f"{given.what}, as of {when}")


def _table(table: Table, key: str) -> None:
    names = [f"c{n}" for n in range(len(table.columns))]
    numeric = [all(_is_number(row[n]) or row[n] is None for row in table.rows) for n in range(len(names))]
    columns = [
        Column(name, _upper(label), "amount", width=95) if numeric[n] else Column(name, _upper(label))
        for n, (name, label) in enumerate(zip(names, table.columns, strict=True))
    ]
    rows = [{name: _cell(value) for name, value in zip(names, row, strict=True)} for row in table.rows]
    height: int | Literal["content"] = "content" if len(rows) <= MANY else HEAD + LINE * MANY
    tables.show(rows, columns, key=key, zone=my_zone_name(), height=height)


def _chart(chart: Chart, key: str) -> None:
    figure = go.Figure(
        go.Bar(
            x=list(chart.days),
            y=list(chart.values),
            marker={"color": charts.SOURCE_COLOURS["note"]},
            hovertemplate="%{x}: %{y:,} " + chart.unit + "<extra></extra>",
        )
    )
    shown = chart.days[:: max(1, -(-len(chart.days) // 7))]
    figure.update_xaxes(type="category", tickvals=list(shown), ticktext=[day[5:] for day in shown], tickangle=0)
    figure.update_yaxes(rangemode="tozero", title={"text": chart.unit})
    with st.container(border=True, gap="xsmall"):
        st.caption(chart.title)
        st.plotly_chart(
            charts.calm(figure, 220, legend=False),
            key=key,
            config={"displayModeBar": False, "scrollZoom": False, "typesetMath": False},
        )
        with st.expander("Table", type="compact"):
            rows = [{"day": day, "value": _cell(v)} for day, v in zip(chart.days, chart.values, strict=True)]
            columns = (Column("day", "Day", "day"), Column("value", _upper(chart.unit), "amount"))
            tables.show(rows, columns, key=f"{key}-rows", zone=my_zone_name())


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _upper(label: str) -> str:
    return label[:1].upper() + label[1:]


def _cell(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:,.6f}".rstrip("0").rstrip(".")
    return f"{value:,}" if _is_number(value) else value
