"""Which views the Tuning page has, in their order. A new one is a module with `show(head)` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pages._shared import address, session
from pages._shared.head import Head
from pages._shared.tuning import evaluate, judge, profiles, rent, sets, whatif


@dataclass(frozen=True)
class View:
    """`name` stands in the address, `title` on the page; `show` draws it; `action`: what somebody has to be allowed."""

    name: str
    title: str
    show: Callable[[Head], None]
    action: str = "judgements"


VIEWS = (
    View("sets", "Query sets", sets.show),
    View("judge", "Judge", judge.show, "judge"),
    View("evaluate", "Evaluate", evaluate.show),
    View("rent", "Memory rent", rent.show),
    View("profiles", "Profiles", profiles.show),
    View("whatif", "What-if", whatif.show),
)


def choose() -> View:
    """The view of the address, the first one for none."""
    titles = {view.name: view.title for view in VIEWS if session.may(view.action)}
    name = address.segments("View", titles, "view", default=VIEWS[0].name, labelled=False)
    return next(view for view in VIEWS if view.name == name)
