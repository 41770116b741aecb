"""The exact block that reaches the prompt, with its estimated tokens; copied with the sign in its corner."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core.memory.prompt import prompt_block
from core.tokens import estimate_tokens
from pages._shared import formats, veil
from pages._shared.layout import panel
from pages._shared.search.view import View


def _file(block: str, record: Callable[[], None]) -> str:
    record()
    return block


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
        st.download_button(
            "Text",
            partial(_file, block, veil.exporting("prompt-block", len(hits))),
            "prompt-block.txt",
            "text/plain",
            key="prompt-file",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
        )
