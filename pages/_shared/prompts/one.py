"""One recorded search in full: what was asked, what came back, the prompt block, the tokens of its request."""

from __future__ import annotations

import streamlit as st

from core.retrievals.record import NOT_USED, Retrieval
from pages._shared import formats, layout, tables, veil
from pages._shared.feedback import boundary, empty
from pages._shared.head import Head
from pages._shared.layout import Figure, panel
from pages._shared.literal import words
from pages._shared.prompts import finding, phases, reading, today, wrong
from pages._shared.session import DialogChoice, choose_dialog
from pages._shared.sitemap import place
from pages._shared.tables import Column
from pages._shared.zone import my_zone, my_zone_name

COLUMNS = (
    Column("rank", "Place", "count", width=60, pinned=True),
    Column("source", "Source", width=105),
    Column("text", "Text as it was", width=330),
    Column("date", "Date", width=130),
    Column("score", "Score", "score", width=75),
    Column("cosine", "Cosine", "score", width=75),
    Column("lexical", "Words", "signed", width=75, help="What the words in common added: this profile weighs them."),
    Column("boost", "Boost", "signed", width=75),
    Column("tokens", "~Tokens", "count", width=80, help="Estimate for its line of the prompt block."),
    Column("key", "Dialog", width=100),
    Column("remark", "Reported", width=150),
)


def show(id: str, head: Head) -> None:
    st.button(
        "All recorded searches", icon=":material/arrow_back:", type="tertiary", on_click=reading.choose, args=(None,)
    )
    read = reading.record(id)
    head.as_of(read.at)
    record = read.value
    if record is None:
        days = reading.totals(None).value.days
        empty("This record is not there", f"Records are kept for {days} days, and go at once when a person is erased.")
        return
    _head(record)
    _figures(record)
    _returned(record)
    with boundary("The replay"):
        today.show(record)
    left, right = st.columns((3, 2))
    with left:
        _block(record)
    with right, boundary("The tokens of this request"):
        phases.show(record.request_id)


def _head(record: Retrieval) -> None:
    zone = my_zone()
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        with st.container(horizontal=True, vertical_alignment="center", width="content"):
            st.badge("recorded", color="blue", help="Written down when the search was made.")
            if record.fallback:
                st.badge("by words", color="orange", help="The embedder did not answer: words in common, not meaning.")
            if record.scope == "all":
                st.badge("all dialogs", color="gray", help="A search over all dialogs: nothing of it is a prompt.")
            st.text(formats.moment(formats.parse(record.at), zone), width="content")
        if record.dialog_key and st.button("Open the dialog", icon=place("dialogs").icon, type="tertiary"):
            choose_dialog(DialogChoice(record.dialog_key, record.ru_id, record.tu_id))
            st.switch_page(place("dialogs").path, query_params={})
    if record.dialog_key:
        st.markdown(f"#### {words(veil.pair(record.ru_id, record.tu_id))}")
    st.caption(NOT_USED)
    asked = f"{formats.plural(record.query_len, 'character')}, compose mode {record.compose_mode or 'any'}."
    with panel("Query", asked):
        if record.client_id is not None and record.client_id != record.ru_id:
            st.text(f"Filtered: only rows of {veil.person('RU', record.client_id)}, and rows without one.")
        st.text(record.query if record.query is not None else "Its words were erased with a person that it had found.")
    if record.request_id:
        _same_request(record)


def _same_request(record: Retrieval) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Request", width="content")
        st.code(record.request_id, language=None, width="content")
        others = reading.listed(None, record.request_id, None, None, 1).value.total - 1
        if others > 0:
            st.text(f"{formats.plural(others, 'more search', 'more searches')} under this id.", width="content")
            if st.button("Show all", type="tertiary"):
                reading.ask_for_request(record.request_id or "")
                reading.choose(None)
                st.rerun()


def _figures(record: Retrieval) -> None:
    parts = f"embed {record.embed_ms:.1f}, database {record.database_ms:.1f}, scoring {record.score_ms:.1f} ms"
    boosts = ", ".join(f"{source} {boost:+.3f}" for source, boost in record.weights.items() if boost) or "none"
    rules = record.profile or {}
    more = f"; unit {rules['unit']}, words {rules['fusion']:g}" if rules else ""
    where = f"of {record.searchable:,} searchable" if record.searchable is not None else None
    layout.figures(
        Figure("Chunks", f"{record.results} of {record.asked_limit}", "Returned, of the limit.", where),
        Figure(
            "Prompt block",
            f"~{formats.short(record.tokens)}",
            "Tokens, estimated: characters / 4.",
            "tokens (estimate)",
        ),
        Figure("Weights", finding.version(record), f"Boosts: {boosts}{more}.", words(rules.get("name") or "") or None),
        Figure("Time", formats.milliseconds(record.total_ms), parts, f"embed {record.embed_ms:.0f} ms"),
        Figure("Model", record.model.split(":")[0], record.model, record.model.partition(":")[2] or None),
    )


def _returned(record: Retrieval) -> None:
    says = "What this search returned, each text as it was. Click a row to read it whole, or to report it."
    with panel("Recorded: what was returned", says):
        if not record.chunks:
            st.text("Nothing was returned." if not record.results else "Its chunks were erased with their person.")
            return
        standing: dict[int, list[str]] = {}
        for report in record.wrong:
            if report.withdrawn_at is None:
                standing.setdefault(report.rank, []).append(report.reason.replace("_", " "))
        rows = [
            {
                **{
                    n: getattr(chunk, n)
                    for n in ("rank", "id", "source", "source_id", "text", "score", "cosine", "lexical")
                },
                **{n: getattr(chunk, n) for n in ("boost", "tokens", "dialog_key")},
                "date": reading.date_of(chunk.note_date, chunk.sent_at),
                "note_date": chunk.note_date,
                "sent_at": chunk.sent_at,
                "key": formats.key(chunk.dialog_key),
                "remark": ", ".join(standing.get(chunk.rank, ())),
            }
            for chunk in record.chunks
        ]
        hidden = {"lexical"} if all(c.lexical is None for c in record.chunks) else set()
        hidden |= {"key"} if record.scope == "dialog" else set()
        hidden |= set() if standing else {"remark"}
        columns = [c for c in COLUMNS if c.field not in hidden]
        picked = tables.show(
            rows, columns, key=f"returned-{record.id}", zone=my_zone_name(), select=True, height="content"
        )
        tables.downloads(rows, finding.fields(rows), name="retrieval", key="returned-file")
    if picked is not None:
        _whole(record, picked)
    wrong.reported(record)


def _whole(record: Retrieval, picked: int) -> None:
    chunk = record.chunks[picked]
    with st.container(border=True, key="whole-chunk"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.badge(f"{chunk.rank}. {chunk.source}", color="gray")
            if st.button("Queries that found it", icon=place("prompts").icon, type="tertiary"):
                reading.ask_for_chunk(chunk.id)
                reading.choose(None)
                st.rerun()
        st.text(chunk.text, width="stretch")
        wrong.form(record, chunk)


def _block(record: Retrieval) -> None:
    if record.scope == "all":
        with panel("Prompt block", "A search over all dialogs makes none."):
            return
    whole = "" if record.block_is_whole else " Not whole any more: some of it was erased."
    says = f"Character for character what this search made: ~{formats.short(record.tokens)} tokens (estimate).{whole}"
    with panel("Prompt block", says):
        st.code(record.prompt_block or "(no chunk)", language=None, wrap_lines=True)
