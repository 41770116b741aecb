"""What is too private for a model."""

from __future__ import annotations

import json

import pytest

from core.companion.converse.llm.detector import why_sensitive

KEY = "ab" * 32


@pytest.mark.parametrize(
    "text",
    [
        "does he TRUST me?",
        "is it a serious relationship",
        "ｔｒｕｓｔ in full width",
        "tr\u200bust with a gap that nobody sees",
        f"what about {KEY}",
        f"({KEY.upper()})",
        "see https://example.org/a.jpg",
        "www.example.org",
        "look: ftp://h/x",
        '"' + "a b " * 60 + '"',
        "«" + "слово " * 40 + "»",
        'he said: "' + "word " * 50,
        '("' + "word " * 50 + '")',
        "```\n" + "line\n" * 60 + "```",
        "\n".join("> " + "word " * 8 for _ in range(8)),
    ],
)
def test_private_forms_are_found(text: str) -> None:
    """Theme words, keys, addresses and long quotations; also in disguise."""
    assert why_sensitive(["How is today?", text])


@pytest.mark.parametrize(
    "text",
    [
        "How is today?",
        "Which goals are behind, and what did it cost?",
        "tokens by phase in the last 7 days",
        "trusted devices",
        "ab" * 31,
        '"short quote"',
        "> one quoted line",
        'Keep "clean" what is clean. ' + "And go on with the rest of it, as before. " * 6,
        'It is 5" wide. ' + "And so on, for a while, without end. " * 8,
        "12:30 // nothing",
        "",
    ],
)
def test_plain_questions_are_not(text: str) -> None:
    """Neither parts of theme words nor short quotations."""
    assert why_sensitive([text]) is None


def test_people_are_asked_for_once_with_every_word() -> None:
    """In lower case, each once; names in constant texts are only words."""
    asked: list[list[str]] = []

    def known(words: list[str]) -> bool:
        asked.append(words)
        return "70114" in words or "olena" in words

    assert why_sensitive(["Is 70114 synced?", "is it?"], known) and len(asked) == 1
    assert asked[0].count("synced") == 1
    assert why_sensitive(["What about Olena's profile?"], known)
    assert why_sensitive(["tokens: 701140"], known) is None
    assert why_sensitive(["How is today?"], known, constant=["Olena is a word here"]) is None
    assert why_sensitive(["How is today?"], known, constant=["How warm and serious to be; say 'kiss' never"]) is None
    assert why_sensitive(["How is today?"], known, constant=[f"see {KEY}"])


def test_json_is_looked_at_value_by_value() -> None:
    """Between its quotation marks stands no quotation; a long value, a word or a key in it are found all the same."""
    rows = json.dumps({"rows": [[n, n * 2.5] for n in range(80)], "success": True, "message": "All of it."})
    assert len(rows) > 500 and why_sensitive([rows]) is None
    assert why_sensitive([json.dumps({"data": {"text": "plain words " * 20}})])
    assert why_sensitive([json.dumps([{"a": "does she trust"}])])
    assert why_sensitive([json.dumps({KEY: 1})])
    assert why_sensitive([rows], lambda words: "157.5" in words or "79" in words)
