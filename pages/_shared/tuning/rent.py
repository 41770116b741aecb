"""Memory rent: tokens and cost of each source and chunk in recorded prompts, against how often it was relevant."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go
import streamlit as st

from core.tuning.rent_report import ChunkRent, Rent, RentReport, SourceRent
from pages._shared import charts, formats, session, tables, veil
from pages._shared.feedback import boundary, empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.tables import Column
from pages._shared.tuning import rent_dialog, rent_reading
from pages._shared.usage import words
from pages._shared.zone import my_zone_name

JUDGED = (
    Column("relevant", "Relevant", "count", help="Places where a person graded the chunk 1 to 3 for the same words."),
    Column("irrelevant", "Not relevant", "count", help="Places where a person graded it 0."),
    Column("unjudged", "Unjudged", "count", help="Places that nobody judged."),
    Column("relevance", "Relevant of judged", "amount"),
    Column("coverage", "Judged", "amount", help="Share of the places that somebody judged."),
)
PRICED = (
    Column("tokens", "Tokens", "count"),
    Column("cost", "Cost (USD)", "amount", help="At the input price of each request's longest call, once a request."),
    Column(
        "unpriced", "Without price", "count", help="Tokens of requests without a recorded call, or without a price."
    ),
)
SOURCES = (
    Column("source", "Source", pinned=True),
    Column("places", "Places", "count", help="Times that a chunk of this source stood in a prompt."),
    Column("share", "Of all tokens", "amount"),
    *PRICED,
    *JUDGED,
    Column("irrelevant_tokens", "Tokens not relevant", "count"),
)
CHUNKS = (
    Column("text", "Chunk", width=360, pinned=True),
    Column("source", "Source", width=105),
    Column("places", "Places", "count"),
    *PRICED,
    *JUDGED,
    Column("labelled", "Relevant in labelled queries", "amount", help="Whether they were asked in a prompt or not."),
    Column("last_at", "Last in a prompt", "when"),
    Column("state", "State", width=90),
)
COLOURS = {"relevant": "#009E73", "not relevant": "#D55E00", "unjudged": "#B5B5B5"}
RULE = (
    "A place counts as relevant or not where a person graded that chunk for the same words over the same dialog; all "
    "others are unjudged, and are no sign of either."
)


def show(head: Head) -> None:
    chosen = session.dialog()
    dialog_key = _scope()
    read = rent_reading.report(dialog_key)
    head.as_of(read.at)
    stale(read)
    found = read.value
    if not found.records:
        empty("No prompt is recorded", "Each search over a dialog is recorded; what its chunks cost is counted here.")
    else:
        _figures(found)
        _by_source(found)
        _by_chunk(found)
    with boundary("Findings in a dialog"):
        rent_dialog.show(chosen)


def _scope() -> str | None:
    chosen = session.dialog()
    if chosen is None:
        return None
    titles = {"all": "All dialogs", "one": f"The open dialog ({veil.pair(chosen.ru_id, chosen.tu_id)})"}
    scope = st.segmented_control(
        "Scope", list(titles), default="all", required=True, format_func=titles.__getitem__, key="rent-scope"
    )
    return chosen.dialog_key if scope == "one" else None


def _figures(found: RentReport) -> None:
    total = found.total
    figures(
        Figure(
            "Prompts",
            formats.count(found.records),
            "The newest ones only." if found.capped else "Recorded searches over a dialog, as long as they are kept.",
        ),
        Figure("Tokens of memory", words.tokens(total.tokens), "Estimated, four characters a token."),
        Figure("Cost", words.cost(total.cost), words.cost_help(total.cost)),
        Figure("Relevant of judged", _percent(total.relevance), f"{total.relevant:,} places of those judged."),
        Figure("Judged", _percent(total.coverage), f"{total.unjudged:,} of {total.places:,} places are unjudged."),
    )


def _by_source(found: RentReport) -> None:
    rows = [_source_row(row, found.total.tokens) for row in found.sources]
    charts.card("Tokens by source (tokens)", RULE, _bars(found), key="rent-bars")
    with panel("What each source pays (rows)", "Tokens it took of prompts, and what came of the places it had."):
        tables.show(rows, SOURCES, key="rent-sources", zone=my_zone_name(), height="content")
        tables.downloads(rows, [c.field for c in SOURCES], name="rent-by-source", key="rent-sources-file")


def _by_chunk(found: RentReport) -> None:
    with panel(
        "What each chunk pays (rows)",
        f"The {len(found.chunks):,} that took most, of {found.chunks_in_prompts:,} that were in a prompt.",
    ):
        rows = [_chunk_row(row) for row in found.chunks]
        tables.show(rows, CHUNKS, key="rent-chunks", zone=my_zone_name(), height=420)
        fields = ["chunk_id", "dialog_key", *(c.field for c in CHUNKS)]
        tables.downloads(rows, fields, name="rent-by-chunk", key="rent-chunks-file")


def _bars(found: RentReport) -> go.Figure:
    names = [row.source for row in found.sources]
    figure = go.Figure()
    for name, amounts in (
        ("relevant", [row.relevant_tokens for row in found.sources]),
        ("not relevant", [row.irrelevant_tokens for row in found.sources]),
        ("unjudged", [row.rent.tokens - row.relevant_tokens - row.irrelevant_tokens for row in found.sources]),
    ):
        figure.add_bar(
            x=amounts,
            y=names,
            orientation="h",
            name=name,
            marker={"color": COLOURS[name]},
            hovertemplate="%{y}, " + name + ": %{x:,} tokens<extra></extra>",
        )
    figure.update_layout(barmode="stack")
    charts.calm(figure, 34 * max(1, len(names)) + 80)
    figure.update_layout(legend_traceorder="normal")  # of a stack it would be the other way round
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return figure


def _source_row(row: SourceRent, tokens: int) -> dict[str, Any]:
    share = words.share(row.rent.tokens, tokens)
    return {"source": row.source, "share": share, "irrelevant_tokens": row.irrelevant_tokens} | _row(row.rent)


def _chunk_row(row: ChunkRent) -> dict[str, Any]:
    return {
        "chunk_id": row.chunk_id,
        "dialog_key": row.dialog_key,
        "text": row.text,
        "source": row.source,
        "labelled": f"{row.relevant_queries} of {row.judged_queries}" if row.judged_queries else "–",
        "last_at": row.last_at,
        "state": "stored" if row.stored else "gone",
    } | _row(row.rent)


def _row(rent: Rent) -> dict[str, Any]:
    return {
        "places": rent.places,
        "tokens": rent.tokens,
        "cost": words.cost(rent.cost),
        "unpriced": rent.cost.unpriced,
        "relevant": rent.relevant,
        "irrelevant": rent.irrelevant,
        "unjudged": rent.unjudged,
        "relevance": _percent(rent.relevance),
        "coverage": _percent(rent.coverage),
    }


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{share:.0%}"
