"""The exact block that reaches the prompt, with its estimated tokens; copied with the sign in its corner."""

from __future__ import annotations

import streamlit as st

from core.memory.prompt import prompt_block
from core.tokens import estimate_tokens
from pages._shared import downloads, formats
from pages._shared.layout import panel
from pages._shared.search.view import View


def show(view: View) -> None:
    hits = view.hits()
    block = prompt_block(hits)
    tokens = estimate_tokens(block)
    says = (
        "Character for character what the prompt gets with the sliders as they stand: "
        f"{formats.plural(len(hits), 'chunk')}, ~{formats.short(tokens)} tokens (estimate: characters / 4)."
    )
    with panel("Prompt block", says):
        st.code(block or "(no chunk)", language=None, wrap_lines=True)
        downloads.button(
            "Text",
            lambda: (block.encode(), len(hits)),
            what="prompt-block",
            file_name="prompt-block.txt",
            mime="text/plain",
            key="prompt-file",
        )
