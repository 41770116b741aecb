"""Dialogs under names of one conversation."""

from __future__ import annotations

import json

from core.companion.converse.llm.aliases import Aliases

KEY, OTHER = "ab" * 32, "cd" * 32


def test_every_key_is_hidden_and_comes_back() -> None:
    """In texts, fields, lists and names of fields; what a model says in return becomes the key again."""
    aliases = Aliases()
    hidden = aliases.hide({"dialog_key": "my own key", "rows": [{"text": f"see {KEY}."}], KEY.upper(): 1, "n": 3})
    assert KEY not in json.dumps(hidden).lower() and "my own key" not in json.dumps(hidden)
    assert aliases.of(KEY) in hidden["rows"][0]["text"] and hidden["n"] == 3
    assert aliases.reveal({"dialog_key": aliases.of(KEY), "also": ["dialog-ffffff"]}) == {
        "dialog_key": KEY,
        "also": ["dialog-ffffff"],
    }
    assert aliases.reveal(hidden)["dialog_key"] == "my own key"


def test_one_name_a_key_another_in_another_conversation() -> None:
    """Random, so that nothing can be computed from it; kept as JSON."""
    aliases = Aliases()
    assert aliases.of(KEY) == aliases.of(KEY) != aliases.of(OTHER)
    again = Aliases(aliases.as_json())
    assert again.of(KEY) == aliases.of(KEY) and again.reveal(aliases.of(OTHER)) == OTHER
    assert len({Aliases().of(KEY) for _ in range(20)}) > 1
