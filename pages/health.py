"""Health: every component, since when it is so, and what to do about it."""

from __future__ import annotations

import streamlit as st

from pages._shared import components, guard, light, reads
from pages._shared.companion import inbox, nudges
from pages._shared.examples import curl
from pages._shared.feedback import boundary
from pages._shared.fragments import fragment
from pages._shared.head import page_head
from pages._shared.health import history
from pages._shared.layout import panel
from pages._shared.resources import core, settings

EVERY_S = 15.0

here = guard.enter("health")
head = page_head(here, "Which component works, since when it does not, and what to do about it.")
inbox.show("health")
nudges.show("health")


@fragment(run_every=EVERY_S)
def live() -> None:
    """The report, made again every few seconds; only this part of the page runs then."""
    with boundary("The health report"):
        with st.container(horizontal=True, vertical_alignment="center"):
            again = st.button("Check now", key="check", icon=":material/refresh:")
            probe = st.checkbox(
                "Ask the embedder too", key="probe", help="Embeds one word; with Gemini that is one paid request."
            )
        report = reads.check_now(embedder=probe) if again else reads.health()
        head.as_of(report.checked_at)
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            light.badge(report.status)
            st.text(report.reason or "Every component answers.")
        components.cards(report)
        components.files(report)


live()
with boundary("The history of the checks"):
    history.show()
with boundary("The daily checks"):
    history.daily(core().health.daily)
says = "What this version brings and the database has not recorded, or has recorded and is not ours."
with panel("Migrations", says), boundary("The list of migrations"):
    components.migrations(reads.health().component("migrations"))
with panel("The same for a monitor", "200 while ok or degraded, 503 while down; nothing personal is in the answer."):
    st.code(curl(settings(), "GET", "/health"), language=None, wrap_lines=True)
    st.code(curl(settings(), "GET", "/metrics"), language=None, wrap_lines=True)
