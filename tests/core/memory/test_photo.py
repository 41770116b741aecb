"""The main photo of a profile."""

from __future__ import annotations

from typing import Any

import pytest

from core.memory.notices import Findings
from core.memory.photo import URL_KEYS, find_photo


@pytest.mark.parametrize("key", ["main_photo", "mainPhoto", "profile_photo", "profilePhoto"])
def test_main_keys(key: str) -> None:
    """Each name of the main photo, as object and as text, before `photos` and the profile itself."""
    rest = {"photos": [{"url": "p"}], "url": "own"}
    assert find_photo({key: {"url": "main"}, **rest}, Findings()) == "main"
    assert find_photo({key: "main", **rest}, Findings()) == "main"
    assert find_photo({key: {"url": None}, **rest}, Findings()) == "p"


def test_url_keys_in_order() -> None:
    """The first URL key that has a text wins; each is one."""
    photo = {key: key for key in reversed(URL_KEYS)}
    for key in URL_KEYS:
        assert find_photo({"main_photo": photo}, Findings()) == key
        del photo[key]


@pytest.mark.parametrize(
    ("profile", "url"),
    [
        ({"photos": [None, {}, {"image": {"src": "a"}}]}, "a"),
        ({"photos": [{"urls": {"preview_url": "b"}}]}, "b"),
        ({"photos": [{"file": "c"}, {"url": "d"}]}, "c"),
        ({"photos": [{"photo": [{"url": "e"}]}]}, "e"),
        ({"photos": "f"}, "f"),
        ({"photos": []}, None),
        ({"profile_url": "own"}, "own"),
        ({"main_photo": {"url": "data:image/png;base64,AAAA"}, "url": "own"}, "own"),
        ({"main_photo": {"url": "two words"}, "url": "x" * 2_001}, None),
        ({"main_photo": {"url": 5}, "photos": [True, 7, [1]]}, None),
        ({"main_photo": {"url": "a\0"}}, None),
    ],
)
def test_shapes(profile: dict[str, Any], url: str | None) -> None:
    """Nested one level, lists with nulls, and nothing that is no URL or too long for a key of an index."""
    assert find_photo(profile, Findings()) == url


def test_unusable_urls_are_told() -> None:
    """What was passed over is counted, never repeated."""
    findings = Findings()
    find_photo({"main_photo": {"url": "SECRET WORDS"}, "photos": [7]}, findings)
    assert {n.kind for n in findings.notices()} == {"malformed"}
    assert "SECRET" not in str(findings.notices())
