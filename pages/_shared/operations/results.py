"""What an ended job came to: its counts, for an ingest each dialog and the file of those that were refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.jobs.job import Job
from core.services.intake import KIND as INGEST
from core.services.intake import as_text
from core.services.intake_job import COUNTS
from pages._shared import downloads, formats, tables
from pages._shared.layout import Figure, figures, panel
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

COUNT_WORDS = {"reembedded": "embedded again", "rate_per_s": "chunks a second"}
WORDS = {
    "gave_up": "Given up: it ended the process five times.",
    "abandoned": "Given up: the data folder that holds its files has not been opened for seven days.",
    "internal": "An error of the dashboard; the log has its place.",
}


def detail(job: Job) -> None:
    """What one ended job came to; for an ingest the dialogs it wrote and the file of those it refused."""
    with panel(f"{core().jobs.title(job.kind)}: {job.state}", "Counts of the whole job."):
        st.caption(f"Job {job.id}")
        if job.error:
            st.text(words_of(job.error))
        counts = counts_of(job)
        if counts:
            figures(*(Figure(word(name).capitalize(), f"{value:,}") for name, value in counts.items()))
        if job.kind == INGEST:
            _dialogs(job)


def _dialogs(job: Job) -> None:
    results = list(core().intake.results(job.id))
    if not results:
        st.caption("The results per dialog are kept for seven days, on the machine that did the job.")
        return
    rows = [_result(row) for row in results]
    columns = (
        Column("label", "Dialog", pinned=True),
        Column("outcome", "Outcome"),
        Column("key", "Key"),
        Column("chunks", "Chunks", "count"),
        Column("added", "Added", "count"),
        Column("warnings", "Warnings", "count"),
        Column("why", "Why", width="large"),
    )
    tables.show(rows, columns, key=f"results-{job.id}", zone=my_zone_name())
    refused = core().intake.refused(job.id)
    with st.container(horizontal=True):
        fields = ["dialog_key" if c.field == "key" else c.field for c in columns]
        tables.downloads(rows, fields, name="ingest-results", key=f"results-file-{job.id}")
        if refused:
            downloads.button(
                f"Refused ({len(refused):,})",
                lambda: (as_text(refused).encode(), len(refused)),
                what="refused-dialogs",
                file_name="refused.jsonl",
                mime="application/x-ndjson",
                key=f"refused-{job.id}",
                help="One line per refused dialog: where it stood, code, field and message. No text of the dialog.",
            )


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    error = row.get("error")
    words = words_of(error) if error else " ".join(f"{w['field']}: {w['message']}" for w in row["warnings"])
    return {
        "label": row["label"],
        "outcome": "refused" if error else "written" if row.get("chunks") else "nothing to write",
        "dialog_key": row.get("dialogKey"),
        "key": formats.key(row["dialogKey"]) if row.get("dialogKey") else None,
        "chunks": row.get("chunks"),
        "added": row.get("added"),
        "warnings": len(row.get("warnings", ())),
        "why": words or row.get("keyReason", ""),
    }


def counts_of(job: Job) -> dict[str, int | float]:
    """The numbers of a result: those of an ingest in the order of its steps, others as they come (jsonb sorts)."""
    result = job.result or {}
    names = [*(name for name in COUNTS if name in result), *(name for name in result if name not in COUNTS)]
    return {name: result[name] for name in names if isinstance(result[name], (int, float))}


def word(name: str) -> str:
    """The name of a count as a reader has it."""
    return COUNT_WORDS.get(name, name.replace("_", " "))


def words_of(error: Mapping[str, Any]) -> str:
    """An error of a job in words, from its code."""
    what = error.get("what") or error.get("message") or WORDS.get(str(error.get("code")), "")
    return " ".join(str(part) for part in (what or error.get("code"), error.get("hint")) if part)
