"""Retrieval profiles as they are stored: every version, which one is in force, and since when."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.db.client import Database
from core.errors import InputError, NotFound, SchemaMismatch
from core.memory.retrieval import SEED, Profile

FRESH_S = 3.0  # how long another process may still search with the profile before a switch


@dataclass(frozen=True)
class Origin:
    """A search that a version's numbers come from; `held_out` {mean, low, high} on dialogs that it did not see."""

    id: str
    query_set: str
    metric: str
    train: Mapping[str, float] | None
    held_out: Mapping[str, float] | None
    train_queries: int
    held_out_queries: int


@dataclass(frozen=True)
class StoredProfile:
    """A version with who proposed and who approved it; times are ISO text, approval None until somebody said yes.

    `fits` is empty where nobody searched for its numbers.
    """

    profile: Profile
    note: str
    query_set: str | None
    created_at: str
    created_by: str | None
    evaluation_id: str | None = None
    verdict: str | None = None
    approved_at: str | None = None
    approved_by: str | None = None
    self_approved: bool | None = None
    fits: tuple[Origin, ...] = ()

    @property
    def version(self) -> int:
        return self.profile.version or 0


@dataclass(frozen=True)
class Activation:
    """A time in which a version was in force, `ended_at` None for the present one.

    `kind` is first, activated or reverted.
    """

    version: int
    previous: int | None
    kind: str
    active_at: str
    ended_at: str | None
    reason: str
    by: str | None


@dataclass(frozen=True)
class ProfileList:
    """Newest version first; `previous` is where one click goes back to."""

    profiles: tuple[StoredProfile, ...]
    activations: tuple[Activation, ...]
    active: int
    previous: int | None

    def of(self, version: int) -> StoredProfile:
        """Errors: NotFound."""
        found = next((p for p in self.profiles if p.version == version), None)
        if found is None:
            raise NotFound("There is no profile of this version.", hint="Reload the page.")
        return found

    def state(self, version: int) -> str:
        """active, retired (was active), approved or proposed."""
        if version == self.active:
            return "active"
        if any(a.version == version for a in self.activations):
            return "retired"
        return "approved" if self.of(version).approved_at else "proposed"


class Profiles:
    """Thread-safe; one per process. Source: SQL functions desk_active_profile, desk_profile_list."""

    def __init__(self, db: Database, now: Callable[[], float] = time.monotonic) -> None:
        self._db = db
        self._now = now
        self._lock = threading.Lock()
        self._held: tuple[float, Profile] | None = None
        self._round = 0

    def active(self) -> Profile:
        """The profile in force, asked again every few seconds; the seed's where the database has no profiles yet.

        Errors: DatabaseError.
        """
        with self._lock:
            held, began = self._held, self._round
        if held is not None and self._now() - held[0] < FRESH_S:
            return held[1]
        found = self._ask()
        with self._lock:
            if began == self._round:  # a switch meanwhile: what was read may be of before
                self._held = (self._now(), found)
        return found

    def forget(self) -> None:
        """After a switch: the next search asks."""
        with self._lock:
            self._held, self._round = None, self._round + 1

    def all(self) -> ProfileList:
        """Errors: DatabaseError."""
        answer = self._db.rpc("desk_profile_list", {}, read=True, returns=dict)
        return ProfileList(
            tuple(_stored(row) for row in answer["profiles"]),
            tuple(Activation(**row) for row in answer["activations"]),
            int(answer["active"] or SEED.version or 1),
            answer["previous"],
        )

    def _ask(self) -> Profile:
        try:
            row: Any = self._db.rpc("desk_active_profile", {}, read=True)
        except SchemaMismatch:  # the migration is pending: what was before it goes on
            return SEED
        return _profile(row) if isinstance(row, Mapping) else SEED


def _profile(row: Mapping[str, Any]) -> Profile:
    try:
        return Profile.from_json(row["body"], name=row["name"], version=int(row["version"]))
    except InputError as unfit:
        raise SchemaMismatch(
            f"The profile of version {row['version']} is of a later form.", hint="Update this product."
        ) from unfit


def _stored(row: Mapping[str, Any]) -> StoredProfile:
    names = StoredProfile.__dataclass_fields__
    plain = {name: row[name] for name in names if name in row and name != "fits"}
    return StoredProfile(_profile(row), **plain, fits=tuple(Origin(**one) for one in row.get("fits", ())))
