"""The answer of `POST /status`: how fresh the memory of one pair is. Source: spec/memory.md section 8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.errors import MissingIdentity
from core.memory.dialogs import DialogReads, DialogStatus
from core.memory.keys import both_keys
from core.memory.places import request_text
from core.memory.sources import SOURCES


@dataclass(frozen=True)
class PairStatus:
    """The tips key's status; `also_under` is the generic key where that has rows, with its number of chunks."""

    dialog_key: str
    status: DialogStatus
    also_under: str | None
    also_chunks: int

    def as_json(self) -> dict[str, Any]:
        return {
            "dialogKey": self.dialog_key,
            "lastNoteAt": self.status.last_note_at,
            "lastMessageAt": self.status.last_message_at,
            "profileUpdatedAt": self.status.profile_updated_at,
            "photoUpdatedAt": self.status.photo_updated_at,
            "counts": {source: self.status.counts.get(source, 0) for source in SOURCES},
            "alsoUnder": self.also_under,
        }


def pair_status(reads: DialogReads, ru_id: object, tu_id: object) -> PairStatus:
    """Status of a pair by its two ids (text or numbers). Errors: MissingIdentity naming the id."""
    ru, tu = _id(ru_id, "ruId"), _id(tu_id, "tuId")
    tips, generic = both_keys(ru, tu)
    found = reads.status([tips, generic])
    other = found[generic].chunks if generic != tips else 0
    return PairStatus(tips, found[tips], generic if other else None, other)


def _id(value: object, field: str) -> str:
    text = request_text({field: value}, field)
    if text is None:
        raise MissingIdentity(f"{field} is missing.", hint="Send ruId and tuId.", field=field)
    return text
