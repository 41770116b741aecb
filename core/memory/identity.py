"""Whose memory it is: the ids of the pair, the key, and which rule gave it. Source: spec/memory.md sections 3 and 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.errors import InputError, MissingIdentity
from core.memory.keys import UNKNOWN_RU, UNKNOWN_TU, generic_key, key_order, tips_key
from core.memory.notices import Findings
from core.memory.places import at, request_text
from core.memory.sources import ID_LIMIT, KEY_LIMIT, KeyOrder
from core.memory.text import is_unstorable, scalar

FAVORITE_PATHS = ("data.favorite.id", "favorite.id", "favoriteId", "id")
RU_PATHS = (
    "data.favorite.clientId",
    "favorite.clientId",
    "data.favorite.profile.id",
    "data.favorite.profile.ulid_id",
    "favorite.profile.id",
    "favorite.profile.ulid_id",
    "data.profile.ulid_id",
    "profile.id",
    "profile.ulid_id",
    "ulid_id",
    "clientId",
)
TU_PATHS = (
    "data.operator.id",
    "data.girl.id",
    "data.profile.girl_id",
    "favorite.operatorId",
    "favorite.girlId",
    "operatorId",
    "girlId",
    "womanId",
    # Ours: the same two without the envelope `data`, tried only where all of the above are missing.
    "operator.id",
    "girl.id",
)


@dataclass(frozen=True)
class Identity:
    """The pair and its key. An id is None only where the request brought its own `dialogKey`."""

    dialog_key: str
    key_order: KeyOrder
    ru_id: str | None
    tu_id: str | None
    favorite_id: str


def resolve_identity(body: Mapping[str, Any], payload: Any, findings: Findings) -> Identity:
    """Explicit ids win over those in the payload. `dialogKey` is kept; `ruId` + `tuId` give the tips key, any other
    mix of ids the generic key.

    Errors: MissingIdentity naming the missing id; InputError naming an argument of an unusable type.
    """
    dialog_key = _dialog_key(body)
    explicit_ru, client = (_known(request_text(body, name), UNKNOWN_RU) for name in ("ruId", "clientId"))
    explicit_tu, woman = (_known(request_text(body, name), UNKNOWN_TU) for name in ("tuId", "womanId"))
    for chosen, other, names in ((explicit_ru, client, "ruId and clientId"), (explicit_tu, woman, "tuId and womanId")):
        if chosen and other and chosen != other:
            findings.add(names.split()[0], "identity", f"{names} differ; {names.split()[0]} was used.")
    ru_id = explicit_ru or client or _first_id(payload, RU_PATHS, UNKNOWN_RU, findings)
    tu_id = explicit_tu or woman or _first_id(payload, TU_PATHS, UNKNOWN_TU, findings)
    if dialog_key is not None:
        order = key_order(dialog_key, ru_id, tu_id)
    else:
        if ru_id is None or tu_id is None:
            raise _missing(ru_id, tu_id, legacy=bool(client or woman) and not (explicit_ru or explicit_tu))
        order = "tips" if explicit_ru and explicit_tu else "generic"
        dialog_key = tips_key(ru_id, tu_id) if order == "tips" else generic_key(tu_id, ru_id)
        if order == "generic" and (explicit_ru or explicit_tu):
            findings.add(
                "dialogKey", "identity", "Only one of ruId and tuId was given; the key is in the order TU, RU."
            )
    favorite = request_text(body, "favoriteId") or _first_id(payload, FAVORITE_PATHS, None, findings)
    return Identity(dialog_key, order, ru_id, tu_id, favorite or dialog_key)


def _dialog_key(body: Mapping[str, Any]) -> str | None:
    """The given key, character for character: it may hold anything that Postgres can store."""
    value = body.get("dialogKey")
    text = request_text(body, "dialogKey", KEY_LIMIT)
    if text is None or not isinstance(value, str):
        return text
    if len(value) > KEY_LIMIT:
        raise InputError(f"dialogKey is longer than {KEY_LIMIT} characters.", field="dialogKey")
    return value


def _first_id(payload: Any, paths: Sequence[str], unknown: str | None, findings: Findings) -> str | None:
    for path in paths:
        value = at(payload, path.split("."))
        if value is None:
            continue
        text = scalar(value)
        if text is None or len(text) > ID_LIMIT or is_unstorable(value):
            findings.add(path, "malformed", "This id is unusable and was passed over.")
        elif text == unknown:
            findings.add(path, "identity", "This id is the placeholder of a missing id and was passed over.")
        else:
            return text
    return None


def _known(text: str | None, unknown: str) -> str | None:
    """A placeholder is no id: rows under it mix different people."""
    return None if text == unknown else text


def _missing(ru_id: str | None, tu_id: str | None, *, legacy: bool) -> MissingIdentity:
    names = [("clientId" if legacy else "ruId")] if ru_id is None else []
    names += [("womanId" if legacy else "tuId")] if tu_id is None else []
    return MissingIdentity(
        f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'} missing, in the request and in the payload.",
        hint="Send the id, or a dialogKey of your own.",
        field=names[0],
    )
