"""Operations: merge, superseded, erase; a chunk taken out on Dialogs. Empty, full, broken; typed before it is done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import DatabaseUnavailable
from core.memory.keys import both_keys
from core.services.corrections import CorrectionService
from core.services.erase import EraseService
from core.services.merge import MergeService
from tests.pages.conftest import calm, texts
from tests.support.dialogs import ODD_KEY, body

Open = Callable[..., AppTest]
TIPS, GENERIC = both_keys("ru-1", "tu-9")
TICKED = {"selection": {"rows": [0], "columns": [], "cells": []}}
OPEN_DIALOG = {"desk.dialog": (TIPS, "ru-1", "tu-9")}


def section(open_page: Open, name: str, **options: Any) -> AppTest:
    at = open_page("operations", **options)
    return at.segmented_control(key="section").set_value(name).run()


def typed(at: AppTest, key: str, word: str) -> AppTest:
    assert at.button(key=f"{key}-do").disabled
    field = next(t for t in at.text_input if str(t.key).startswith(f"{key}-word"))
    field.set_value(word).run()
    at.button(key=f"{key}-do").click().run()
    return calm(at)


def away(core: Core) -> str:
    """The key of the table of what was taken out."""
    page = core.corrections.excluded()
    return f"away-{page.total}-{page.rows[0].content_hash[:8]}"


def dialog_with(age: int) -> dict[str, Any]:
    made = body("k1", messages=2)
    made["conversationJson"]["favorite"]["profile"]["age"] = age
    return made


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("merge", "No pair stands under two keys"),
        ("superseded", "No chunk is superseded"),
        ("erase", "No dialog is open"),
    ],
)
def test_empty_says_why(core: Core, open_page: Open, name: str, words: str) -> None:
    """A fresh database: each section stands, and says what it is for."""
    assert words in texts(calm(section(open_page, name)))


@pytest.mark.parametrize(
    ("name", "service"), [("merge", MergeService), ("superseded", CorrectionService), ("erase", EraseService)]
)
def test_broken_says_so(core: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch, name: str, service: Any) -> None:
    """A database that is away is not an empty one."""

    def away(*_: object, **__: object) -> None:
        raise DatabaseUnavailable("Can't reach the memory database.")

    monkeypatch.setattr(service, "superseded" if name == "superseded" else "list", away)
    assert "cannot be shown" in texts(calm(section(open_page, name)))


def test_merge_and_undo(stored: Core, open_page: Open) -> None:
    """Both sides, a warning that both live, the word typed, the report; then back."""
    at = section(open_page, "merge", session={"desk.merge.pair": (TIPS, GENERIC)})
    said = texts(calm(at))
    assert "both alive" in said and "the newer row stays" in said
    at.segmented_control(key="merge-mode").set_value("move").run()
    typed(at, "merge", "merge")
    assert "gave way to a newer one" in texts(at)
    assert stored.dialogs.ambiguous_pairs().total == 0
    at.session_state[f"merges-{stored.merges.list().rows[0].id}"] = TICKED
    at.run()
    at.button(key="merge-undo").click().run()
    assert "The merge was undone" in texts(calm(at))
    assert stored.dialogs.ambiguous_pairs().total == 1


def test_a_ticked_pair_stays_swapped_and_is_unticked_after_the_merge(stored: Core, open_page: Open) -> None:
    """The tick is one decision: it does not turn the two round again at the next run, nor offer what was just done."""
    at = section(open_page, "merge")
    at.session_state["pairs-table-0"] = TICKED
    at.run()
    assert at.session_state["desk.merge.pair"] == (TIPS, GENERIC)
    at.button(key="merge-swap").click().run()
    at.session_state["pairs-table-0"] = TICKED
    at.run()
    assert at.session_state["desk.merge.pair"] == (GENERIC, TIPS)
    at.segmented_control(key="merge-mode").set_value("copy").run()
    typed(at, "merge", "merge")
    assert "desk.merge.pair" not in at.session_state and "Swap the two" not in [b.label for b in at.button]
    assert stored.merges.list().rows[0].mode == "copy"


def test_superseded(core: Core, open_page: Open) -> None:
    """Old beside new, deleted after the word, listed below, put back."""
    core.ingest.ingest(dialog_with(34))
    core.ingest.ingest(dialog_with(35))
    at = section(open_page, "superseded")
    table = next(d.value for d in calm(at).dataframe if "newer_text" in d.value)
    assert list(table["text"]) == ["Age: 34"] and list(table["newer_text"]) == ["Age: 35"]
    typed(at, "superseded", "delete")
    assert "1 superseded chunk deleted" in texts(at)
    assert core.corrections.superseded().total == 0
    at.session_state[away(core)] = TICKED
    at.run()
    at.button(key="away-restore").click().run()
    assert "back, as it was" in texts(calm(at))
    assert core.corrections.superseded().total == 1


def test_erase(stored: Core, open_page: Open) -> None:
    """The other key of the pair is offered, counts by table, the word, the record; the dialog is no longer open."""
    at = section(open_page, "erase", session=OPEN_DIALOG)
    said = texts(calm(at))
    assert TIPS in said and GENERIC in said, "the other key of the pair is ticked"
    assert any("client_memory_chunks" in set(d.value["table"]) for d in at.dataframe if "table" in d.value)
    typed(at, "erase", "erase")
    assert "Erased:" in texts(at) and "No dialog is open" in texts(at)
    assert stored.dialogs.get(TIPS) is None and stored.dialogs.get(GENERIC) is None
    stored.ingest.ingest(body(None, ruId="ru-1", tuId="tu-9"))
    st.cache_data.clear()
    again = section(open_page, "erase")
    assert "Erased, and written again" in texts(calm(again))


def test_an_odd_key_is_erased_alone(core: Core, open_page: Open) -> None:
    """Quotes, slashes and plus signs: this dialog and only it."""
    core.ingest.ingest(body(ODD_KEY))
    core.ingest.ingest(body(ODD_KEY + "x"))
    at = section(open_page, "erase", session={"desk.dialog": (ODD_KEY, None, None)})
    at.checkbox(key="erase-others").uncheck().run()
    typed(at, "erase", "erase")
    assert core.dialogs.get(ODD_KEY) is None and core.dialogs.get(ODD_KEY + "x") is not None


def test_a_chunk_is_taken_out_and_put_back(stored: Core, open_page: Open) -> None:
    """On Dialogs: a reason, out, said; listed below; back."""
    at = calm(open_page("dialogs", session=OPEN_DIALOG))
    at.selectbox(key="source").set_value("note").run()
    before = stored.dialogs.status([TIPS])[TIPS].chunks
    listed = next(str(k) for k in at.session_state._state.filtered_state if str(k).startswith("chunks-1-note-None"))
    at.session_state[listed] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    at.selectbox(key="out-reason").set_value("sensitive").run()
    at.button(key="out-exclude").click().run()
    assert "The chunk was excluded" in texts(calm(at))
    assert stored.dialogs.status([TIPS])[TIPS].chunks == before - 1
    at.session_state[away(stored)] = TICKED
    at.run()
    at.button(key="away-restore").click().run()
    assert stored.dialogs.status([TIPS])[TIPS].chunks == before
    calm(at)
