"""The ASGI entry: dashboard and HTTP API in one process, under `make run` and under `streamlit run app.py` alike."""

from pathlib import Path

import streamlit as st

from core.api import build_routes
from pages._shared.lifespan import lifespan
from pages._shared.resources import core

app = st.App(
    str(Path(__file__).parent / "pages" / "_shared" / "frame.py"), routes=build_routes(core), lifespan=lifespan
)
