"""From the body of `POST /memory/ingest` to the parts that become chunks. Pure. Source: spec/memory.md section 4."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.errors import InputError
from core.memory.identity import resolve_identity
from core.memory.keys import generic_key, key_order, tips_key
from core.memory.messages import Message, read_messages
from core.memory.notes import Note, read_notes, read_summaries
from core.memory.notices import Findings, Notice
from core.memory.photo import find_photo, usable_url
from core.memory.places import json_argument
from core.memory.profile import find_profile, profile_lines, profile_of, unite
from core.memory.sources import ComposeMode, KeyOrder

__all__ = ["Normalised", "Notice", "normalise", "with_key"]


@dataclass(frozen=True)
class Normalised:
    """One payload, read: whose it is, and its parts in the order in which they become chunks.

    `profile` holds finished lines; `messages` the latest 80 in time order. Ids are None only beside an own `dialogKey`.
    """

    dialog_key: str
    key_order: KeyOrder
    ru_id: str | None
    tu_id: str | None
    favorite_id: str
    compose_mode: ComposeMode = "both"
    profile: tuple[str, ...] = ()
    photo_url: str | None = None
    notes: tuple[Note, ...] = ()
    summaries: tuple[Note, ...] = ()
    messages: tuple[Message, ...] = ()
    notices: tuple[Notice, ...] = ()

    @property
    def tips_key(self) -> str | None:
        """The key of this pair in the order RU, TU; None where an id is missing."""
        return tips_key(self.ru_id, self.tu_id) if self.ru_id and self.tu_id else None

    @property
    def generic_key(self) -> str | None:
        """The key of this pair in the order TU, RU; None where an id is missing."""
        return generic_key(self.tu_id, self.ru_id) if self.ru_id and self.tu_id else None


def normalise(body: Mapping[str, Any]) -> Normalised:
    """Read a whole request body. What is inside the JSON arguments never fails: it becomes a notice.

    Errors: InputError naming the field for an argument of the request itself that is unusable; MissingIdentity (422)
    naming the id. Neither repeats any of the payload.
    """
    if not isinstance(body, Mapping):
        raise InputError("The body is no JSON object.", field="body")
    findings = Findings()
    payload = json_argument(body, "conversationJson")
    wrapper = json_argument(body, "profileJson")
    if isinstance(wrapper, list):
        raise InputError("profileJson is a list.", hint="Send one profile as an object.", field="profileJson")
    explicit_photo = _explicit_photo(body, findings)
    if payload is None and wrapper is None and explicit_photo is None and not body.get("summaries"):
        raise InputError(
            "conversationJson is missing.", hint="Send the payload as JSON, or as text.", field="conversationJson"
        )
    identity = resolve_identity(body, payload, findings)
    own, found = _own_profile(wrapper, findings), find_profile(payload, findings)
    profile = unite(profile_of(own, "profileJson", findings), profile_of(found, "profile", findings))
    photo_url = explicit_photo or find_photo(own, findings) or find_photo(found, findings)
    return _with_missing_parts(
        Normalised(
            dialog_key=identity.dialog_key,
            key_order=identity.key_order,
            ru_id=identity.ru_id,
            tu_id=identity.tu_id,
            favorite_id=identity.favorite_id,
            compose_mode="reply" if body.get("composeMode") == "reply" else "both",
            profile=profile_lines(profile, findings),
            photo_url=photo_url,
            notes=read_notes(payload, wrapper, findings),
            summaries=read_summaries(body, payload, findings),
            messages=read_messages(payload, findings),
        ),
        findings,
    )


def with_key(normalised: Normalised, dialog_key: str) -> Normalised:
    """The same payload under another key; a favourite id that was only the key follows it."""
    favorite = dialog_key if normalised.favorite_id == normalised.dialog_key else normalised.favorite_id
    order = key_order(dialog_key, normalised.ru_id, normalised.tu_id)
    return replace(normalised, dialog_key=dialog_key, key_order=order, favorite_id=favorite)


def _explicit_photo(body: Mapping[str, Any], findings: Findings) -> str | None:
    value = body.get("photoUrl")
    if value is not None and not isinstance(value, str):
        raise InputError("photoUrl is no text.", field="photoUrl")
    return usable_url(value, findings, "photoUrl")


def _own_profile(wrapper: Mapping[str, Any] | None, findings: Findings) -> Mapping[str, Any] | None:
    """`profileJson` is a profile, or an envelope round one as the payload has it."""
    if wrapper is None or "name" in wrapper or "details" in wrapper:
        return wrapper
    return find_profile(wrapper, findings) or wrapper


def _with_missing_parts(normalised: Normalised, findings: Findings) -> Normalised:
    parts = {
        "profile": (normalised.profile, "The payload has no profile."),
        "conversation": (normalised.messages, "The payload has no message that can be kept."),
        "notes": (normalised.notes, "The payload has no notes."),
        "photo": (normalised.photo_url, "The payload has no photo URL."),
    }
    for field, (value, message) in parts.items():
        if not value:
            findings.add(field, "missing", message)
    return replace(normalised, notices=findings.notices())
