"""Which sections the Operations page has, in their order. A new one is a module with `show(head)` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pages._shared import address
from pages._shared.head import Head
from pages._shared.operations import cleanup, erase, ingest, jobs, merge, photos, reembed, superseded


@dataclass(frozen=True)
class Section:
    """`name` stands in the address, `title` on the page; `show` draws it."""

    name: str
    title: str
    show: Callable[[Head], None]


SECTIONS = (
    Section("ingest", "Ingest", ingest.show),
    Section("reembed", "Re-embed", reembed.show),
    Section("photos", "Photos", photos.show),
    Section("merge", "Merge", merge.show),
    Section("superseded", "Superseded", superseded.show),
    Section("cleanup", "Clean up", cleanup.show),
    Section("erase", "Erase", erase.show),
    Section("jobs", "Jobs", jobs.show),
)


def choose() -> Section:
    """The section of the address, the first one for none."""
    titles = {section.name: section.title for section in SECTIONS}
    name = address.segments("Section", titles, "section", default=SECTIONS[0].name, labelled=False)
    return next(section for section in SECTIONS if section.name == name)
