"""Every page with the demo's data, for each role that is no administrator: nothing on it fails for want of a role.

An administrator may also what the product does by itself; a page that needs that works for nobody else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import pytest
from streamlit.testing.v1 import AppTest

from core.access import allowed
from core.bootstrap import Core, build_core
from core.config import read_settings
from core.events import LOCAL_OPERATOR
from core.local.server import Endpoint
from core.memory.requests import SearchRequest
from core.usage.periods import last_days
from pages._shared.operations.sections import SECTIONS
from pages._shared.sitemap import PLACES
from tests.pages.conftest import ROOT, texts

Open = Callable[..., AppTest]

VIEWS = {
    "tuning": ("sets", "judge", "evaluate", "rent", "profiles", "whatif"),
    "snapshots": ("coverage", "day", "compare", "history", "expiry"),
    "insights": ("streaks", "correlations", "facts", "learning"),
    "workbench": ("waiting", "decided", "timeline", "budget"),
    "companion_settings": ("models", "policy", "rules"),
    "access": ("roles", "people", "tokens"),
}
SETTINGS = {"MEMORY_DESK_DEMO": "on", "MEMORY_DESK_EMBEDDER": "local"}
FAILED = ("cannot be shown", "Only the product", "Nobody may", "You may not", "met an error of its own", "incident")


def addresses() -> list[tuple[str, dict[str, str]]]:
    found = [(place.name, {}) for place in PLACES]
    found += [(page, {"view": view}) for page, views in VIEWS.items() for view in views]
    return [*found, *(("operations", {"section": section.name}) for section in SECTIONS)]


@pytest.fixture
def demo(
    env: Mapping[str, str], endpoint: Endpoint, open_page: Open, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Core]:
    """With the model of which vectors are shipped. `open_page` first: it sets the environment of all other tests."""
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    built = build_core(read_settings({**env, **SETTINGS}), endpoint=endpoint)
    built.demo.load()
    yield built
    built.close()


@pytest.mark.timeout(300)
@pytest.mark.parametrize("roles", ["viewer", "auditor", "auditor,tuner,operator,owner"])
def test_no_part_of_a_page_fails_for_a_role(
    demo: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, roles: str
) -> None:
    """With a dialog in hand and a query set chosen: who sees least, who reads most, who may all but administer."""
    monkeypatch.setenv("MEMORY_DESK_LOCAL_ROLE", roles)
    (dialog, *_) = demo.dialogs.list(limit=1).rows
    quarter = last_days(90, demo.clock.now(), demo.settings.zone)
    session = {
        "desk.dialog": (dialog.dialog_key, dialog.ru_id, dialog.tu_id),
        "desk.kept.tuning.set": demo.tuning.labels.sets()[0].id,
        "desk.kept.usage-request": demo.usage.reports.requests(quarter).rows[0].request_id,
    }
    actions = {place.name: place.action for place in PLACES}
    who = replace(LOCAL_OPERATOR, roles=frozenset(roles.split(",")))
    at = open_page("overview", session=session)
    searched = demo.search.search(SearchRequest(dialog_key=dialog.dialog_key, query="travel"))
    assert searched.hits and demo.retrievals.recorder.flush()
    (record, *_) = demo.retrievals.store.list().rows
    more = [("prompts", {"record": record.id}), ("usage", {"range": "90d"})]
    failed = []
    for page, query in [*addresses(), *more]:
        if not allowed(who, actions[page]):
            continue
        for name, value in session.items():  # a page may have put them away
            at.session_state[name] = value
        at.query_params.clear()
        at.query_params.update(query)
        at.switch_page(str(ROOT / "pages" / f"{page}.py")).run()
        if page == "search":
            at.text_input(key="query").set_value("travel")
            next(b for b in at.button if b.label == "Search").click().run()
        failed += [(page, query, line) for line in texts(at).splitlines() if any(word in line for word in FAILED)]
        failed += [(page, query, str(error.value)[:80]) for error in at.exception]
    assert not failed, "\n".join(map(str, failed))
