"""Settings: what is configured, where each value came from, the weights in force, the way in for other programs."""

from __future__ import annotations

import os

import streamlit as st
from dotenv import dotenv_values

from pages._shared import configuration, demo, guard, reads, tables, zone_card
from pages._shared.examples import api_examples, versions
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.layout import panel
from pages._shared.resources import settings
from pages._shared.sitemap import ROOT
from pages._shared.tables import Column
from pages._shared.weights import weights_card
from pages._shared.zone import my_zone_name

here = guard.enter("settings")
head = page_head(here, "What this process runs with, where each value came from, and how other programs reach it.")
given = settings()

with boundary("Your time zone"):
    zone_card.card()

with panel(
    "Effective configuration", "The environment wins over the file .env; both are read at start. Secrets show as stars."
):
    env_file = ROOT / ".env"
    rows = configuration.rows(given, os.environ, dotenv_values(env_file) if env_file.is_file() else {})
    columns = (
        Column("name", "Variable", pinned=True, width=265),
        Column("value", "Value", width=150),
        Column("origin", "From", width=95),
        Column("meaning", "Meaning"),
    )
    tables.show(rows, columns, key="configuration", zone=my_zone_name(), height="content")
    tables.downloads(rows, [c.field for c in columns], name="configuration", key="configuration-file")

left, right = st.columns(2)
with left, boundary("The weights"):
    weights_card()
with right, panel("Versions and paths", "What answers here; the database's own versions are on the Health page."):
    facts = versions(given)
    fact_columns = (Column("what", "What"), Column("value", "Value"))
    tables.show(facts, fact_columns, key="versions", zone=my_zone_name(), height="content")
    tables.downloads(facts, ["what", "value"], name="versions", key="versions-file")

with boundary("The demo data"):
    read = reads.overview()
    head.as_of(read.at)
    demo.card(read.value.demo)

api_examples(given)
