"""What Streamlit's options cannot set for those who see little or use the keyboard, in both themes.

What the keyboard has reached shows a ring of at least 3:1: Streamlit's own is a tint of 15 % on the links of the
navigation and a half transparent shadow elsewhere. Words on a primary button and on a chosen option of the dark theme
are dark: white ones have 2.3:1 on that blue, and a blue dark enough for them would be too dark for links.
"""

from __future__ import annotations

import streamlit as st

RING = {"light": "#2f5d8a", "dark": "#7fb0dd"}  # primaryColor of .streamlit/config.toml
ON_PRIMARY = {"light": "#ffffff", "dark": "#0d141c"}
LOOK = """<style>
:is(a, button, summary, [role="tab"], [role="radio"], [role="option"]):focus-visible {{
  outline: 2px solid {ring} !important; outline-offset: 2px; }}
[data-testid="stSidebar"] a:focus-visible {{ outline-offset: -2px; }}
[data-testid^="stBaseButton-primary"]:not(:disabled), [data-testid^="stBaseButton-primary"]:not(:disabled) *,
[data-testid="stMultiSelect"] span[title] {{
  color: {words}; }}
</style>"""


def ring() -> None:
    theme = st.context.theme.type or "light"
    st.html(LOOK.format(ring=RING[theme], words=ON_PRIMARY[theme]))
