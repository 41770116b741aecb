"""The embedding recipe on the Operations page: what a switch takes, its start, and its refusal."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.services.reembed import SERVICE_MODEL
from tests.pages.conftest import calm, texts
from tests.support.dialogs import body

Open = Callable[..., AppTest]


def recipe(open_page: Open, target: str) -> AppTest:
    at = open_page("operations", query={"section": "reembed"})
    return at.segmented_control(key="recipe-target").set_value(target).run()


def settle(core: Core) -> None:
    for job in core.jobs.list(live=True).rows:
        core.jobs.finish_here(job.id)


def test_it_says_what_it_takes_and_does_it(core: Core, open_page: Open) -> None:
    """Messages, tokens, time and cost before; afterwards the other recipe is the active one."""
    core.ingest.ingest(body("k1"))
    at = recipe(open_page, "speaker")
    figures = {m.label: m.value for m in calm(at).metric}
    assert figures["Messages to embed"] == "6" and figures["Cost"] == "free"
    assert figures["Tokens"].startswith("~") and figures["Time"] == "not measured"
    at.button(key="recipe-measure").click().run()
    assert {m.label: m.value for m in calm(at).metric}["Time"].startswith("~")
    assert "Searches use test:768 until the last message is done" in texts(at)
    at.button(key="recipe-start").click().run()
    assert "The switch was started" in texts(calm(at))
    settle(core)
    assert core.recipe.active() == "speaker" and core.model() == "test:768+speaker"


def test_nothing_to_do_for_the_active_one(core: Core, open_page: Open) -> None:
    """The active recipe is named, with what it means, and offers no switch."""
    at = calm(open_page("operations", query={"section": "reembed"}))
    assert "plain: the text of a chunk" in texts(at)
    assert not [button for button in at.button if button.key == "recipe-start"]


def test_refused_beside_another_writer(core: Core, open_page: Open, dsn: str) -> None:
    """The reason in words, and no button that would fail."""
    with psycopg.connect(dsn, autocommit=True) as direct:
        direct.execute(
            "insert into client_memory_chunks"
            " (dialog_key, content_hash, favorite_id, source, source_id, text, embedding, embedding_model)"
            " values ('theirs', 'h', 'f', 'note', 'n', 'theirs', array_fill(0.1, array[768])::extensions.vector, %s)",
            (SERVICE_MODEL,),
        )
    at = calm(recipe(open_page, "speaker"))
    assert "Another writer is active: 1 chunks in 1 dialogs" in texts(at)
    assert at.button(key="recipe-start").disabled
