"""The Dialogs page: the list, one dialog, their filters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core.bootstrap import Core
from core.errors import StatementTimeout
from core.memory.dialogs import DialogReads
from core.memory.keys import both_keys
from tests.pages.conftest import ODD, calm, texts
from tests.support.dialogs import body

Open = Callable[..., AppTest]
TIPS, GENERIC = both_keys("ru-1", "tu-9")


def listing(at: AppTest) -> pd.DataFrame:
    return next(d.value for d in at.dataframe if "updated_at" in d.value)


def chunk_table(at: AppTest) -> pd.DataFrame:
    return next(d.value for d in at.dataframe if "flags" in d.value)


def choice(key: str = TIPS) -> dict[str, Any]:
    return {"desk.dialog": (key, "ru-1", "tu-9")}


def test_empty_names_the_next_step(core: Core, open_page: Open) -> None:
    """No dialogs: a way to get one."""
    assert "No dialog is stored yet" in texts(calm(open_page("dialogs")))


def test_the_list_shows_both_keys_of_the_pair(stored: Core, open_page: Open) -> None:
    """Each key is a dialog of its own, and both say so."""
    at = calm(open_page("dialogs"))
    rows = listing(at)
    assert set(rows["order"]) == {"tips", "generic"}
    assert list(rows["remark"]) == ["two keys", "two keys"]
    assert not any(TIPS in str(v) for v in rows.to_numpy().ravel()), "the whole key is shown on demand only"


def test_find_by_id_and_by_text(stored: Core, open_page: Open) -> None:
    """Ids match by a part; a text finds the dialogs whose chunks hold it; nothing found is no fault."""
    at = calm(open_page("dialogs"))
    at.text_input(key="find").set_value("no-such-id").run()
    assert "No dialog has this id or key" in texts(calm(at))
    at.text_input(key="find").set_value("U-9").run()
    assert len(listing(calm(at))) == 2
    at.segmented_control(key="in").set_value("texts")
    at.text_input(key="find").set_value("$20, she paid $30 _and_").run()
    assert list(listing(calm(at))["hits"]) == [1]


def test_a_page_beyond_the_end_is_the_last_page(stored: Core, open_page: Open) -> None:
    """A link to page 10 after rows went shows what is there."""
    at = calm(open_page("dialogs", query={"page": "10"}))
    assert len(listing(at)) == 2


def test_pages_walk_without_gap_or_repeat(core: Core, open_page: Open) -> None:
    """30 dialogs on two pages: every one once."""
    for n in range(30):
        core.ingest.ingest(body(f"k{n:02}", messages=1, notes=()))
    at = calm(open_page("dialogs"))
    seen = list(listing(at)["key"])
    at.pagination(key="page").select(2).run()
    seen += list(listing(calm(at))["key"])
    assert sorted(seen) == [f"k{n:02}" for n in range(30)]


def test_one_dialog_in_full(stored: Core, open_page: Open) -> None:
    """Status, both keys whole, counts, and the odd text character for character in the table."""
    at = calm(open_page("dialogs", session=choice()))
    said = texts(at)
    assert TIPS in said and GENERIC in said and "ambiguous" in said
    assert {"Chunks", "Last note", "Last message", "Last ingest"} <= {m.label for m in at.metric}
    at.text_input(key="chunk-text").set_value("$30 _and_").run()
    assert list(chunk_table(calm(at))["text"]) == [ODD]


def test_a_chosen_chunk_is_shown_whole(stored: Core, open_page: Open) -> None:
    """The text of a chunk is rendered as text, not as Markdown."""
    at = calm(open_page("dialogs", session=choice()))
    at.text_input(key="chunk-text").set_value("$30 _and_").run()
    listed = next(str(k) for k in at.session_state._state.filtered_state if str(k).startswith("chunks-1-None-None"))
    at.session_state[listed] = {"selection": {"rows": [0], "columns": [], "cells": []}}
    at.run()
    assert ODD in [t.value for t in calm(at).text]


def test_filters_by_source_and_flag(stored: Core, open_page: Open) -> None:
    """A source filter keeps that source; a flag says what it means."""
    at = calm(open_page("dialogs", session=choice()))
    at.selectbox(key="source").set_value("note").run()
    assert set(chunk_table(calm(at))["source"]) == {"note"}
    at.selectbox(key="source").set_value("all").run()
    assert "photo without text (1)" in [str(o) for o in at.pills(key="flag").options] or at.pills(key="flag").options


def test_an_old_choice_of_a_dialog_that_is_gone(core: Core, open_page: Open) -> None:
    """A dialog that was removed meanwhile is said to be gone; the way back is there."""
    at = calm(open_page("dialogs", session=choice()))
    assert "no longer stored" in texts(at)


def test_broken_is_not_empty(stored: Core, open_page: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """A statement that timed out says so."""

    def slow(self: DialogReads, *args: object, **kwargs: object) -> None:
        raise StatementTimeout("The database gave up on this question.")

    monkeypatch.setattr(DialogReads, "list", slow)
    said = texts(calm(open_page("dialogs")))
    assert "Dialogs cannot be shown" in said and "gave up" in said and "No dialog" not in said


def test_choices_stand_in_the_address_as_short_codes(stored: Core, open_page: Open) -> None:
    """Codes, not labels: a label may be reworded, and a link is to hold. The default stays out."""
    at = calm(open_page("dialogs"))
    at.selectbox(key="sort").set_value("chunks").run()
    at.segmented_control(key="order").set_value("asc").run()
    at.segmented_control(key="in").set_value("texts").run()
    kept = {name: v if isinstance(v, str) else v[0] for name, v in dict(calm(at).query_params).items()}
    assert kept == {"sort": "chunks", "order": "asc", "in": "texts"}
    at.segmented_control(key="in").set_value("ids").run()
    assert "in" not in at.query_params
    again = calm(open_page("dialogs", query={"sort": "chunks", "order": "asc"}))
    sizes = list(listing(again)["chunks"])
    assert sizes == sorted(sizes) and again.selectbox(key="sort").value == "chunks"


def test_nonsense_in_the_address_is_the_default(stored: Core, open_page: Open) -> None:
    """A mistyped link opens the page, and the wrong value goes."""
    at = calm(open_page("dialogs", query={"sort": "bogus", "order": "number of chunks", "in": "text of chunks"}))
    assert len(listing(at)) == 2 and at.selectbox(key="sort").value == "last_at"
    assert not dict(at.query_params)


def test_a_link_with_a_flag_filters_the_rows(stored: Core, open_page: Open) -> None:
    """The flag of the address holds for the table too, on the first run."""
    at = calm(open_page("dialogs", session=choice(), query={"flag": "photo_without_text"}))
    assert at.pills(key="flag").value == "photo_without_text"
    assert set(chunk_table(at)["source"]) == {"photo"}
    at.pills(key="flag").set_value(None).run()
    assert "flag" not in calm(at).query_params and len(chunk_table(at)) > 1


def test_without_dialogs_the_commands_are_those_that_work_here(core: Core, open_page: Open) -> None:
    """The demo command loads it, and the address is this server's."""
    shown = "\n".join(c.value for c in calm(open_page("dialogs")).code)
    assert "core demo --load" in shown and "/memory/ingest" in shown
