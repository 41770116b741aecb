"""Corrections of the memory: exclude or delete chunks, put them back, clean up what a newer text replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from uuid import UUID

from core.access.roles import permit
from core.db.client import Database
from core.errors import ConflictError, InputError, NotFound
from core.events.emitter import Events
from core.memory.corrections import (
    REASONS,
    CorrectionState,
    CorrectionStore,
    ExcludedPage,
    Kind,
    Restored,
    SupersededPage,
    TakenOut,
)

LIMIT = 1_000  # chunks of one decision


class CorrectionService:
    """Thread-safe; one per process. Everything here can be undone: excluded chunks always, others for 14 days."""

    def __init__(self, db: Database, events: Events) -> None:
        self._store = CorrectionStore(db)
        self._events = events

    def exclude(self, ids: Sequence[str], reason: str, *, kind: Kind = "excluded") -> TakenOut:
        """Take chunks out, so that no search finds them and no ingest of ours writes them again.

        Errors: InputError naming ids or reason, NotFound where none of them is stored, DatabaseError.
        """
        _allow("exclude_chunks")
        _check(ids)
        if reason not in REASONS:
            raise InputError("The reason is not one of the list.", field="reason")
        event = self._events.prepare("ChunksExcluded" if kind == "excluded" else "ChunksDeleted", {})
        done = self._store.exclude(ids, kind, reason, event)
        if not done.count:
            raise NotFound("None of these chunks is stored any more.", hint="Reload the page.")
        self._events.announce(event)
        return done

    def restore(
        self, ids: Sequence[str] = (), *, dialog_key: str | None = None, hashes: Sequence[str] = ()
    ) -> Restored:
        """Put chunks back as they were; `hashes` of a dialog: let an ingest write those again whose text is gone.

        Errors: InputError, NotFound where none of them was taken out, DatabaseError.
        """
        _allow("exclude_chunks")
        if ids or not hashes:
            _check(ids)
        event = self._events.prepare("ChunksRestored", {})
        done = self._store.restore(ids, event, dialog_key=dialog_key, hashes=hashes)
        if not (done.restored or done.present or done.lifted):
            raise NotFound("These chunks can no longer be put back.", hint="Reload the page.")
        self._events.announce(event)
        return done

    def excluded(self, dialog_key: str | None = None, *, limit: int = 25, offset: int = 0) -> ExcludedPage:
        """What was taken out, of one dialog or of all, newest first. Errors: DatabaseError."""
        _allow("corrections")
        return self._store.excluded(dialog_key, limit=limit, offset=offset)

    def superseded(self, dialog_key: str | None = None, *, limit: int = 25, offset: int = 0) -> SupersededPage:
        """What a clean-up would take. Errors: DatabaseError."""
        _allow("corrections")
        return self._store.superseded(dialog_key, limit=limit, offset=offset)

    def delete_superseded(
        self,
        *,
        expected: int,
        ids: Sequence[str] | None = None,
        dialog_key: str | None = None,
        progress: Callable[[int, int, str], None] | None = None,
        check: Callable[[], None] | None = None,
    ) -> TakenOut:
        """Take out superseded chunks: these, or all of a dialog or of the memory; never more than `expected`, the
        number that somebody has seen. `check` stops by raising, between two batches.

        Errors: ConflictError where more would go than was seen, DatabaseError.
        """
        _allow("delete_superseded")
        if ids is not None:
            return self._batch(ids[:LIMIT], dialog_key)
        total = self._store.superseded(dialog_key, limit=0).total
        if total > expected:
            raise ConflictError(
                f"{total:,} chunks are superseded now, {expected:,} were shown.", hint="Look at the preview again."
            )
        done = dialogs = 0
        while done < total:
            if check:
                check()
            batch = self._batch(None, dialog_key)
            if not batch.count:
                break
            done, dialogs = done + batch.count, max(dialogs, batch.dialogs)
            if progress:
                progress(done, total, "")
        return TakenOut(done, dialogs)

    def state(self) -> CorrectionState:
        """What came back, or is written again. Errors: DatabaseError."""
        return self._store.state()

    def _batch(self, ids: Sequence[str] | None, dialog_key: str | None) -> TakenOut:
        event = self._events.prepare("ChunksDeleted", {})
        done = self._store.delete_superseded(ids, dialog_key, event)
        if done.count:
            self._events.announce(event)
        return done


def _allow(action: str) -> None:
    permit(action)


def _check(ids: Sequence[str]) -> None:
    if not 0 < len(ids) <= LIMIT:
        raise InputError(f"Name 1 to {LIMIT:,} chunks.", field="ids")
    try:
        [UUID(i) for i in ids]
    except (ValueError, AttributeError, TypeError):
        raise InputError("An id of a chunk is not one.", field="ids") from None
