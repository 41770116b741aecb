"""Which sections the Operations page has, in their order. A new one is a module with `show(head)` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pages._shared import address, session
from pages._shared.head import Head
from pages._shared.operations import cleanup, erase, ingest, jobs, merge, photos, reembed, superseded


@dataclass(frozen=True)
class Section:
    """`name` stands in the address, `title` on the page; `show` draws it for those who may do `action`."""

    name: str
    title: str
    show: Callable[[Head], None]
    action: str


SECTIONS = (
    Section("ingest", "Ingest", ingest.show, "ingest"),
    Section("reembed", "Re-embed", reembed.show, "reembed"),
    Section("photos", "Photos", photos.show, "photos_describe"),
    Section("merge", "Merge", merge.show, "merge_keys"),
    Section("superseded", "Superseded", superseded.show, "corrections"),
    Section("cleanup", "Clean up", cleanup.show, "snapshots_cleanup"),
    Section("erase", "Erase", erase.show, "erase_person"),
    Section("jobs", "Jobs", jobs.show, "jobs"),
)


def choose() -> Section:
    """The section of the address, the first one for none; of those that somebody may use."""
    titles = {section.name: section.title for section in SECTIONS if session.may(section.action)}
    name = address.segments("Section", titles, "section", default=next(iter(titles)), labelled=False)
    return next(section for section in SECTIONS if section.name == name)
