"""What the Operations page reads, each with a lifetime and a size; see pages/_shared/reads.py."""

from __future__ import annotations

from datetime import date

import streamlit as st

from core.bootstrap import Core
from core.jobs.job import Job, JobPage
from core.photos.service import PhotoPage
from core.services.intake import DialogPreview
from core.services.recipe import RecipePreview
from core.services.reembed import ReembedPreview
from core.services.snapshot_body import SnapshotBody
from pages._shared.reads import PAGE, Read, standing
from pages._shared.resources import core

PREVIEWED = 5  # dialogs of an upload, each compared with the database


def jobs(page: int) -> Read[JobPage]:
    """A page of jobs, newest first."""
    return standing(("jobs", page), lambda: _jobs(core(), page))


@st.cache_data(ttl=2, max_entries=8, show_spinner=False)  # watched while they run
def _jobs(_core: Core, page: int) -> Read[JobPage]:
    return Read(_core.jobs.list(limit=PAGE, offset=(page - 1) * PAGE), _core.clock.now())


def running() -> Read[tuple[Job, ...]]:
    """The jobs that are alive, oldest first."""
    return _running(core())


@st.cache_data(ttl=1, max_entries=1, show_spinner=False)  # one question a second, however many tabs look
def _running(_core: Core) -> Read[tuple[Job, ...]]:
    return Read(tuple(reversed(_core.jobs.list(live=True, limit=100).rows)), _core.clock.now())


def ingest_preview(sha: str, windows: bool, start: int) -> Read[list[DialogPreview]]:
    """Some dialogs of an upload as an ingest would write them now."""
    return _ingest_preview(core(), sha, windows, start)


@st.cache_data(ttl=15, max_entries=16, show_spinner=False)  # somebody walks its pages, then starts
def _ingest_preview(_core: Core, sha: str, windows: bool, start: int) -> Read[list[DialogPreview]]:
    return Read(_core.intake.preview(sha, windows=windows, start=start, limit=PREVIEWED), _core.clock.now())


def reembed(dialog_key: str | None, measure: bool) -> Read[ReembedPreview]:
    """What it would take to embed again what another model embedded."""
    return standing(("reembed", dialog_key, measure), lambda: _reembed(core(), dialog_key, measure))


@st.cache_data(ttl=10, max_entries=16, show_spinner=False)
def _reembed(_core: Core, dialog_key: str | None, measure: bool) -> Read[ReembedPreview]:
    return Read(_core.reembed.preview(dialog_key, measure=measure), _core.clock.now())


def recipe_active() -> Read[str]:
    """The embedding recipe whose rows are searched."""
    return Read(core().recipe.active(), core().clock.now())


def recipe(target: str, measure: bool) -> Read[RecipePreview]:
    """What a switch to another recipe would take."""
    return standing(("recipe", target, measure), lambda: _recipe(core(), target, measure))


@st.cache_data(ttl=10, max_entries=4, show_spinner=False)
def _recipe(_core: Core, target: str, measure: bool) -> Read[RecipePreview]:
    return Read(_core.recipe.preview(target, measure=measure), _core.clock.now())


def snapshot_days(dialog_key: str) -> Read[list[str]]:
    """Days of which a dialog has snapshots, newest first."""
    return _snapshot_days(core(), dialog_key)


@st.cache_data(ttl=30, max_entries=16, show_spinner=False)
def _snapshot_days(_core: Core, dialog_key: str) -> Read[list[str]]:
    return Read(_core.snapshot_source.days(dialog_key), _core.clock.now())


def snapshot_body(dialog_key: str, day: str) -> Read[SnapshotBody]:
    """One day's snapshots as a body to ingest, with what memory holds of it."""
    return _snapshot_body(core(), dialog_key, day)


@st.cache_data(ttl=30, max_entries=4, show_spinner=False)
def _snapshot_body(_core: Core, dialog_key: str, day: str) -> Read[SnapshotBody]:
    return Read(_core.snapshot_source.body(dialog_key, date.fromisoformat(day)), _core.clock.now())


def photos() -> Read[PhotoPage]:
    """The first photos without words."""
    return standing(("photos",), lambda: _photos(core()))


@st.cache_data(ttl=10, max_entries=1, show_spinner=False)
def _photos(_core: Core) -> Read[PhotoPage]:
    return Read(_core.photos.waiting(), _core.clock.now())


def forget() -> None:
    """After something was started, stopped or has ended."""
    for read in (_jobs, _running, _ingest_preview, _reembed, _recipe, _snapshot_days, _snapshot_body, _photos):
        read.clear()
