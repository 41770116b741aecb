"""Merging the two keys of a pair: look first, act once, 14 days to undo it."""

from __future__ import annotations

from uuid import UUID

from core.access.roles import permit
from core.db.client import Database
from core.errors import ConflictError, InputError, NotFound
from core.events.emitter import Events
from core.memory.merges import Merged, MergePage, MergePreview, MergeStore, Mode

_WHY_NOT = {
    "undone": "This merge was undone already.",
    "expired": "The 14 days in which a merge can be undone are over.",
    "later": "One of its keys was merged again since. Undo the later merge first.",
}


class MergeService:
    """Thread-safe; one per process."""

    def __init__(self, db: Database, events: Events) -> None:
        self._store = MergeStore(db)
        self._events = events

    def preview(self, kept: str, dropped: str) -> MergePreview:
        """What stands under both keys and what would happen. Errors: InputError, DatabaseError."""
        permit("corrections")
        _check(kept, dropped)
        return self._store.preview(kept, dropped)

    def merge(self, kept: str, dropped: str, *, mode: Mode = "move") -> Merged:
        """Give everything under `dropped` the other key; `copy` leaves it there and gives the kept key the chunks too.

        Errors: InputError for one key twice, ConflictError for keys of two pairs, NotFound where there is nothing to
        merge, DatabaseError; then nothing was changed.
        """
        permit("merge_keys")
        _check(kept, dropped)
        if mode not in ("move", "copy"):
            raise InputError("A merge moves or copies.", field="mode")
        seen = self._store.preview(kept, dropped)
        if seen.different_pairs:
            raise ConflictError(
                "The keys belong to different pairs.", hint="Only the keys of one RU and TU can be merged."
            )
        if not seen.dropped.chunks and (mode == "copy" or not seen.rows):
            raise NotFound("Nothing stands under the key that is to go.", hint="There is nothing to merge.")
        event = self._events.prepare("DialogKeysMerged", {}, record_id=kept)
        done = self._store.merge(kept, dropped, mode, event)
        self._events.announce(event)
        return done

    def undo(self, merge_id: str) -> int:
        """Move back what a merge moved; the number of rows. Rows that came later stay where they are.

        Errors: InputError, NotFound, ConflictError saying why not, DatabaseError.
        """
        permit("merge_keys")
        try:
            merge_id = str(UUID(merge_id))
        except ValueError:
            raise InputError("The id of a merge is not one.", field="merge") from None
        event = self._events.prepare("MergeUndone", {"merge_id": merge_id})
        answer = self._store.undo(merge_id, event)
        if answer["outcome"] == "missing":
            raise NotFound("There is no such merge.")
        if answer["outcome"] != "done":
            raise ConflictError(_WHY_NOT[answer["outcome"]])
        self._events.announce(event)
        return int(answer["rows"])

    def list(self, *, limit: int = 25, offset: int = 0) -> MergePage:
        """Merges, newest first. Errors: DatabaseError."""
        permit("corrections")
        return self._store.list(limit=limit, offset=offset)


def _check(kept: str, dropped: str) -> None:
    if not kept or not dropped:
        raise InputError("Two dialog keys are needed.", field="dropped" if kept else "kept")
    if kept == dropped:
        raise InputError("A key cannot be merged with itself.", field="dropped")
