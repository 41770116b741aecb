"""The URL of a profile's main photo. Source: spec/memory.md section 4."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from core.memory.notices import Findings
from core.memory.sources import URL_LIMIT_BYTES
from core.memory.text import is_given, is_unstorable, scalar

MAIN_KEYS = ("main_photo", "mainPhoto", "profile_photo", "profilePhoto")
NESTED_KEYS = ("image", "photo", "file", "urls")
URL_KEYS = ("big_url", "profile_url", "photo_url", "original_url", "preview_url", "url", "src")
_SPACE = re.compile(r"\s")


def find_photo(profile: Mapping[str, Any] | None, findings: Findings) -> str | None:
    """The main photo, else the first of `photos`, else a URL of the profile itself; None where there is none."""
    if profile is None:
        return None
    photos = profile.get("photos")
    if is_given(photos) and not isinstance(photos, list):
        findings.add("photos", "malformed", "The photos are no list; they were read as one photo.")
        photos = [photos]
    for candidate in (*(profile.get(key) for key in MAIN_KEYS), *(photos or ())):
        url = _url_in(candidate, findings)
        if url:
            return url
    return _own_url(profile, findings)


def usable_url(value: Any, findings: Findings, field: str = "photo") -> str | None:
    """A URL of at most 2,000 bytes, without white space, no inline data; None, and a notice, for anything else."""
    if not isinstance(value, str):
        if is_given(value):
            findings.add(field, "malformed", "A photo URL is no text and was passed over.")
        return None
    url = scalar(value)
    if url is None:
        return None
    if is_unstorable(value) or _SPACE.search(url) or url[:5].lower() == "data:" or _bytes(url) > URL_LIMIT_BYTES:
        findings.add(field, "malformed", "A photo URL is too long or no URL and was passed over.")
        return None
    return url


def _url_in(value: Any, findings: Findings) -> str | None:
    """A URL, or an object that holds one by a URL key, or one level deeper under image, photo, file or urls."""
    if isinstance(value, str):
        return usable_url(value, findings)
    if not isinstance(value, Mapping):
        if is_given(value):
            findings.add("photo", "malformed", "A photo is neither text nor an object and was passed over.")
        return None
    url = _own_url(value, findings)
    if url:
        return url
    for key in NESTED_KEYS:
        inner = value.get(key)
        for item in inner[:1] if isinstance(inner, list) else [inner]:
            url = usable_url(item, findings) if isinstance(item, str) else _own_url(item, findings)
            if url:
                return url
    return None


def _own_url(value: Any, findings: Findings) -> str | None:
    if not isinstance(value, Mapping):
        return None
    return next((url for key in URL_KEYS if (url := usable_url(value.get(key), findings))), None)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8"))
