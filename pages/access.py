"""Access: who may what, the people who were here, the tokens of other programs."""

from __future__ import annotations

from collections.abc import Callable

from pages._shared import address, guard
from pages._shared.access import people, roles, tokens
from pages._shared.feedback import boundary
from pages._shared.head import page_head
from pages._shared.operations import outcome

VIEWS: dict[str, tuple[str, Callable[[], None]]] = {
    "roles": ("Roles", roles.show),
    "people": ("People", people.show),
    "tokens": ("API tokens", tokens.show),
}

here = guard.enter("access")
page_head(here, "Who may see and do what, who was here, and which programs have a token. Each change holds at once.")

with boundary(here.title):
    outcome.show()
    words = {name: label for name, (label, _) in VIEWS.items()}
    VIEWS[address.segments("Access", words, "view", default="roles", labelled=False)][1]()
