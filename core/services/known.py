"""Whom the texts of a dialog may name, and the name of a person whose id is not shown. Kept for a minute."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

from core.access.masking import Known, Mask, person_alias
from core.access.masking.alias import Side
from core.db.client import Database

KEPT_S = 60.0
KEPT = 2_000
# After these somebody may be called otherwise, or be nobody any more.
STALE_AFTER = (
    "DialogIngested", "SnapshotsCaptured", "SnapshotsSynced", "DialogKeysMerged", "MergeUndone", "DialogErased",
)  # fmt: skip
AT_ONCE = 100


class KnownPeople:
    """Thread-safe. A profile that was written a moment ago is known after a minute, in this process after `forget`."""

    def __init__(self, db: Database, now: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[float, Mask]] = OrderedDict()
        self._turn = 0
        self._secret: bytes | None = None

    def masks(self, dialog_keys: Iterable[str]) -> dict[str, Mask]:
        """The mask of each dialog; one question for up to 100 that are not kept. Errors: DatabaseError."""
        keys = list(dict.fromkeys(dialog_keys))
        found: dict[str, Mask] = {}
        with self._lock:
            for key in keys:
                kept = self._kept.get(key)
                if kept and self._now() - kept[0] < KEPT_S:
                    found[key] = kept[1]
        missing = [key for key in keys if key not in found]
        for start in range(0, len(missing), AT_ONCE):
            found |= self._read(missing[start : start + AT_ONCE])
        return found

    def mask(self, dialog_key: str | None) -> Mask:
        """The mask of one dialog; without one only what has a form of its own is masked. Errors: DatabaseError."""
        return self.masks((dialog_key,))[dialog_key] if dialog_key else NOBODY

    def alias(self, side: Side, id: str) -> str:
        """`RU-7f3a9c`, the same for everybody who uses this database. Errors: DatabaseError."""
        if self._secret is None:
            answer: Any = self._db.rpc("desk_alias_secret", read=False, returns=dict)
            self._secret = str(answer["secret"]).encode()
        return person_alias(self._secret, side, id)

    def forget(self) -> None:
        """After an ingest, a merge or an erasure."""
        with self._lock:
            self._kept.clear()
            self._turn += 1

    def _read(self, keys: list[str]) -> dict[str, Mask]:
        with self._lock:
            turn = self._turn
        answer: Any = self._db.rpc("desk_known_people", {"p_dialog_keys": keys}, read=True, returns=dict)
        masks = {}
        for key in keys:
            people = answer.get(key) or {"names": [], "ids": []}
            masks[key] = Mask(Known(tuple(people["names"]), tuple(people["ids"])))
        with self._lock:
            for key, mask in masks.items() if turn == self._turn else ():  # else names changed while it was asked
                self._kept[key] = (self._now(), mask)
                self._kept.move_to_end(key)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        return masks


NOBODY = Mask()
