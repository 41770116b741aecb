"""The frame round every page: page settings, navigation, health light. The script that Streamlit runs."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if str(ROOT) not in sys.path:  # Streamlit puts this folder there, not the project's
    sys.path.insert(0, str(ROOT))

import streamlit as st  # noqa: E402

from core.access import allowed  # noqa: E402
from pages._shared import focus, guard, light  # noqa: E402
from pages._shared.companion import nudges  # noqa: E402
from pages._shared.feedback import boundary  # noqa: E402
from pages._shared.sign_in import door  # noqa: E402
from pages._shared.sitemap import GROUPS, PLACES  # noqa: E402

HERE = Path(__file__).parent
# Pages that list the nudges themselves (the first page has no path), and the one whose own field is in that corner.
WITHOUT_STACK = ("", "overview", "today", "feed", "chat")

# The icon comes before the navigation: otherwise the browser fetches one from another host.
st.set_page_config(
    page_title="Memory Desk", page_icon=str(HERE / "icon.png"), layout="wide", initial_sidebar_state="auto"
)
st.logo(str(HERE / "logo.svg"), size="medium", icon_image=str(HERE / "icon.png"))

actor = door.enter()  # before anything of the product: a page, its name, the light
page = st.navigation(
    {
        group: [
            st.Page(
                p.path,
                title=p.title,
                icon=p.icon,
                url_path=p.name,
                default=p is PLACES[0],
                visibility="visible" if allowed(actor, p.action) else "hidden",  # a link to it is still refused by it
            )
            for p in PLACES
            if p.group == group
        ]
        for group in GROUPS
        if any(p.group == group for p in PLACES)
    },
    expanded=True,  # otherwise the half of them hides behind "View more"
)
with guard.framed():
    focus.ring()
    with st.sidebar, boundary("The health light"):
        door.who(actor)
        light.show()
        nudges.badge()
    nudges.begin()
    with boundary(page.title):
        page.run()
    if page.url_path not in WITHOUT_STACK:
        nudges.frame()
