"""Labels out of the product and into it: JSONL with everything, TREC qrels with ids and grades."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.tuning.labels import SetSummary
from pages._shared import downloads, formats, session, veil
from pages._shared.operations import outcome
from pages._shared.parts import only
from pages._shared.tuning import acting, choices

FORMS = {"jsonl": ("JSONL", "application/x-ndjson"), "qrels": ("TREC qrels", "text/plain")}


def show(chosen: SetSummary | None) -> None:
    with st.expander("Export and import", icon=":material/swap_vert:", type="compact"):
        if chosen is not None:
            _export(chosen)
        _import(chosen)


def _export(chosen: SetSummary) -> None:
    st.text("JSONL holds queries, grades, judges and reasons. qrels hold the one grade that counts, by id.")
    llm = st.toggle("Labels of models in qrels", key="qrels-llm", help="Off: people's grades alone. JSONL marks each.")
    revealed = veil.revealed()
    masked = "" if revealed else " Masked as on this page: reveal first where another desk has to read them whole."
    with st.container(horizontal=True):
        for form, (label, mime) in FORMS.items():
            downloads.button(
                label,
                partial(acting.export, chosen.id, form, llm, revealed),
                what=f"labels-{form}",
                file_name=f"labels.{form}",
                mime=mime,
                key=f"export-{form}",
                help=f"Recorded.{masked if form == 'jsonl' else ''}",
                quiet=False,
            )


@only("judge")
def _import(chosen: SetSummary | None) -> None:
    turn = session.remembered("import-turn", 0)
    file = st.file_uploader("Import a file", key=f"import-{turn}", max_upload_size=20)
    if file is None:
        return
    into = "new"
    if chosen is not None:
        into = st.radio("Into", ("this set", "a new set"), key="import-into", horizontal=True) or "new"
    llm = st.checkbox("A model made these labels", key="import-llm", help="For qrels, which cannot say it themselves.")
    st.button(
        "Import",
        key="import-do",
        type="primary",
        on_click=_read,
        args=(file.getvalue(), file.name, chosen.id if chosen is not None and into == "this set" else None, llm),
    )


def _read(data: bytes, name: str, query_set: str | None, llm: bool) -> None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as wrong:
        outcome.say("error", f"The import: the file is no UTF-8 text (byte {wrong.start}). Nothing was imported.")
        return
    done = outcome.attempt("The import", partial(acting.import_file, text, name, query_set, llm))
    if done is None:
        return
    session.remember("import-turn", session.remembered("import-turn", 0) + 1)
    choices.remember_set(done.query_set)
    words = (
        f"{formats.plural(done.queries, 'query', 'queries')} and {formats.plural(done.judgements, 'grade')} imported"
    )
    more = f"; {done.unchanged} stood there already" if done.unchanged else ""
    gone = f"; {done.gone} are about chunks that are not stored now" if done.gone else ""
    outcome.say("done", f"{words}{more}{gone}.")
