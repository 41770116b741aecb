"""The profile of the RU: found, united, written as at most ten lines. Source: spec/memory.md sections 3 and 4."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from core.memory.notices import Findings
from core.memory.places import PLACES, at
from core.memory.sources import NOTE_LIMIT
from core.memory.text import cut, fold, is_given, scalar

NAMES = ("profileRu", "profileRU", "profile")
_NUMBER = re.compile(r"\d{1,3}(\.0+)?", re.ASCII)


@dataclass(frozen=True)
class Profile:
    """What is known of a person; texts are folded, None or () where nothing is."""

    name: str | None = None
    age: str | None = None
    city: str | None = None
    country: str | None = None
    occupation: str | None = None
    body_type: str | None = None
    marital_status: str | None = None
    personality_type: str | None = None
    goals: tuple[str, ...] = ()
    hobbies: tuple[str, ...] = ()
    traits: tuple[str, ...] = ()


def find_profile(payload: Any, findings: Findings) -> Mapping[str, Any] | None:
    """The first non-empty profile object, place by place."""
    for place in PLACES:
        for name in NAMES:
            value = at(payload, (*place, name))
            if isinstance(value, Mapping) and value:
                return value
            if is_given(value):
                findings.add(".".join((*place, name)), "malformed", "This profile is no object and was passed over.")
    return None


def profile_of(raw: Mapping[str, Any] | None, field: str, findings: Findings) -> Profile:
    """Read one profile object; an unusable value is a notice and counts as missing."""
    if raw is None:
        return Profile()
    details = raw.get("details")
    if is_given(details) and not isinstance(details, Mapping):
        findings.add(f"{field}.details", "malformed", "The details are no object and were passed over.")
    inner: Mapping[str, Any] = details if isinstance(details, Mapping) else {}

    def text(holder: Mapping[str, Any], name: str) -> str | None:
        return _text(holder.get(name), f"{field}.{name}", findings)

    def listed(name: str) -> tuple[str, ...]:
        return _list(inner.get(name), f"{field}.details.{name}", findings)

    return Profile(
        name=text(raw, "name"),
        age=_age(text(raw, "age")),
        city=text(raw, "city"),
        country=text(raw, "country"),
        occupation=text(inner, "occupation"),
        body_type=text(inner, "body_type"),
        marital_status=text(inner, "marital_status"),
        personality_type=text(inner, "personality_type"),
        goals=listed("goal"),
        hobbies=listed("hobbies"),
        traits=listed("traits"),
    )


def unite(first: Profile, second: Profile) -> Profile:
    """`first` wins field by field; lists are united, `first` ahead, equal entries once."""
    values: dict[str, Any] = {}
    for f in fields(Profile):
        a, b = getattr(first, f.name), getattr(second, f.name)
        values[f.name] = tuple(dict.fromkeys((*a, *b))) if isinstance(a, tuple) else (b if a is None else a)
    return Profile(**values)


def profile_lines(profile: Profile, findings: Findings) -> tuple[str, ...]:
    """`Label: value` for each value there is, in the fixed order of ten; a line is cut at 800."""
    pairs = (
        ("Name", profile.name),
        ("Age", profile.age),
        ("Location", ", ".join(part for part in (profile.city, profile.country) if part)),
        ("Occupation", profile.occupation),
        ("Body type", profile.body_type),
        ("Marital status", profile.marital_status),
        ("Personality type", profile.personality_type),
        ("Goals", ", ".join(profile.goals)),
        ("Hobbies", ", ".join(profile.hobbies)),
        ("Traits", ", ".join(profile.traits)),
    )
    lines = []
    for label, value in pairs:
        if value:
            line = f"{label}: {value}"
            lines.append(cut(line, NOTE_LIMIT))
            if lines[-1] != line:
                findings.add(f"profile.{label}", "cut", f"This profile line was cut to {NOTE_LIMIT} characters.")
    return tuple(lines)


def _text(value: Any, field: str, findings: Findings) -> str | None:
    """A text or number, or the `name` of an object that holds one."""
    if isinstance(value, Mapping) and ("name" in value or not value):
        value = value.get("name")
    text = scalar(value)
    if text is None and is_given(value) and not isinstance(value, str):
        findings.add(field, "malformed", "This value is neither text nor a number and was passed over.")
    return None if text is None else fold(text) or None


def _list(value: Any, field: str, findings: Findings) -> tuple[str, ...]:
    items = value if isinstance(value, (list, tuple)) else [value]
    texts = (_text(item, field, findings) for item in items)
    return tuple(dict.fromkeys(text for text in texts if text))


def _age(text: str | None) -> str | None:
    """A whole number without zeros behind its point; 0 stands for unknown; any other text as it is."""
    if text is None or not _NUMBER.fullmatch(text):
        return text
    number = int(text.split(".")[0])
    return str(number) if number else None
