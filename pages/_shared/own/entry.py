"""The line at the top of a page: Enter writes it, what was understood is said beneath with its undo."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages._shared.own import acting
from pages._shared.own.acting import Said

Write = Callable[[str, str], Said]


def line(page: str, label: str, example: str, write: Write, *, said: str | None = None) -> None:
    """Draws the field. `write` gets the text and the id of what it makes; a line that fails stays to be mended.

    What came of it stands on `page`, or on `said` where several lines share a page.
    """
    field = f"{page}-line"
    with st.form(f"{page}-entry", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(label, key=field, placeholder=example, max_chars=400, width="stretch")
        st.form_submit_button(
            "Add",
            icon=":material/add:",
            type="primary",
            on_click=_submit,
            args=(page, said or page, label, field, write, acting.token(page)),
        )


def _submit(form: str, page: str, label: str, field: str, write: Write, id: str) -> None:
    text = str(st.session_state.get(field) or "").strip()
    if not text:
        return

    def do() -> Said:
        said = write(text, id)
        st.session_state[field] = ""
        return said

    acting.press(page, label, do, key=f"{form}-{id}", form=form)
