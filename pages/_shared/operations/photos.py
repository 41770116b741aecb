"""Photos that hold a URL and no words: one described at a time, fetched or uploaded, or all of them as a job."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.events import run_as
from core.jobs.job import Job
from core.photos.image import FORMATS
from core.photos.service import Described, Photo, PhotoPage
from pages._shared import formats, reads, session, tables, veil
from pages._shared.feedback import empty, stale
from pages._shared.head import Head
from pages._shared.layout import Figure, figures, panel
from pages._shared.operations import acting, outcome, reading
from pages._shared.resources import core
from pages._shared.tables import Column
from pages._shared.zone import my_zone_name

FORM = "photos"
UPLOAD_MB = 10
COLUMNS = (
    Column("ru", "RU"),
    Column("tu", "TU"),
    Column("key", "Dialog"),
    Column("url", "URL", width="large"),
    Column("updated_at", "Written", "when"),
)


def show(head: Head) -> None:
    read = reading.photos()
    head.as_of(read.at)
    stale(read)
    found = read.value
    _switch()
    figures(
        Figure("Photos", formats.count(found.photos), "Photo chunks with a URL."),
        Figure("Without words", formats.count(found.total), "Found by no search for what is seen on them."),
        Figure("Described", formats.count(found.photos - found.total)),
    )
    if not found.photos:
        empty("No photo is stored", "A photo comes with an ingest: the main photo of the profile, or photoUrl.")
        return
    if not found.total:
        empty("Every photo has its words", "New ones appear here after an ingest.")
        return
    photo = _choose(found)
    if photo is not None:
        _one(photo)
    _all(found)


def _switch() -> None:
    """What is missing before anything may be sent; nothing while all is there."""
    missing = core().photos.missing
    if not missing:
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="photos-off"):
        st.badge("off", color="orange")
        st.text(
            f"Photos are not described: {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing. "
            "It sends pictures of people to Google, so it needs its own consent besides the key."
        )


def _choose(found: PhotoPage) -> Photo | None:
    rows = [
        {
            "ru": veil.person("RU", photo.client_id),
            "tu": veil.person("TU", photo.woman_id),
            "key": formats.key(photo.dialog_key),
            "url": photo.source_id,
            "updated_at": photo.updated_at,
        }
        for photo in found.rows
    ]
    says = "Click one to describe it alone. A description is one chunk of at most 420 characters, found like a note."
    with panel("Photos without words", says):
        chosen = tables.show(rows, COLUMNS, key="photos", zone=my_zone_name(), select=True)
        if found.total > len(found.rows):
            st.caption(f"The first {len(found.rows)} of {formats.count(found.total)}.")
        tables.downloads(rows, [c.field for c in COLUMNS], name="photos-without-words", key="photos-file")
    return found.rows[chosen] if chosen is not None else None


def _one(photo: Photo) -> None:
    off = bool(core().photos.missing)
    with panel("Describe this photo", "Fetched from its URL, public addresses only, or taken from a file."):
        st.text(photo.source_id)
        given = st.file_uploader(
            "Or upload the image",
            type=[name.lower() for name in FORMATS] + ["jpg"],
            key=f"photo-upload-{photo.id}",
            max_upload_size=UPLOAD_MB,
        )
        st.button(
            "Describe the uploaded image" if given else "Fetch and describe",
            key="photo-describe",
            icon=":material/image_search:",
            disabled=off,
            on_click=_describe,
            args=(photo, given.getvalue() if given else None),
            help="Not switched on." if off else "Sends the image to Gemini, without place, camera and time.",
        )


def _all(found: PhotoPage) -> None:
    off = bool(core().photos.missing)
    st.button(
        f"Describe {formats.plural(found.total, 'photo')} as a job",
        key="photos-start",
        type="primary",
        icon=":material/play_arrow:",
        disabled=off,
        on_click=_start,
        help="Not switched on." if off else "One request to Gemini each; it can be stopped.",
    )


def _describe(photo: Photo, upload: bytes | None) -> None:
    def act() -> Described:
        with run_as(session.actor()):
            # Asked for again: in the one that was shown the URL is masked.
            return core().photos.describe(core().photos.find(photo.id), upload=upload)

    described = outcome.attempt("Describing the photo", act)
    if described is not None:
        kept = "" if described.snapshot else " The day's snapshot was written by another service and stays as it is."
        outcome.say("done", f"The photo has its words, {len(described.text)} characters.{kept}")
    reading.forget()
    reads.forget_dialogs()


def _start() -> None:
    form = outcome.form_id(FORM)

    def act(id: str) -> Job:
        with run_as(session.actor()):
            return core().photos.start(id=id)

    job = outcome.attempt("Describing photos", partial(act, form))
    if job is not None:
        acting.watch(job.id)
        outcome.say("started", "The job was started. It goes on if this tab is closed, and can be stopped.")
        outcome.new_form(FORM)
    reading.forget()
