"""The closed loop: propose, approve on the strength of an evaluation, activate, go back. Each with its event and actor.

The rules live in SQL, which stores the event in the same transaction; here they get their words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.access.roles import acting, require
from core.db.client import Database
from core.errors import ConflictError, InputError, NotFound
from core.events.actor import Actor
from core.events.emitter import Events
from core.memory.retrieval import Profile
from core.tuning.profiles import Profiles

NAME_LIMIT = 120
NOTE_LIMIT = 1_000
_REFUSALS: Mapping[str, tuple[type[ConflictError | NotFound], str, str]] = {
    "no_actor": (ConflictError, "Nobody stands behind this.", "Say who acts."),
    "no_approver": (ConflictError, "A profile is approved by a person.", "Ask somebody with the role to."),
    "no_profile": (NotFound, "There is no profile of this version.", "Reload the page."),
    "approved_already": (ConflictError, "This version is approved already.", "Reload the page."),
    "not_approved": (ConflictError, "Nobody has approved this version.", "Attach its evaluation and have it approved."),
    "no_evaluation": (
        ConflictError,
        "No evaluation covers this version on the labelled queries it was proposed for.",
        "Evaluate this very version on that set, then approve.",
    ),
    "fitted_here": (
        ConflictError,
        "This evaluation is partly of the queries that the version was found with: it proves nothing.",
        "Evaluate it anew: of that set only the dialogs kept out count. Or propose it for another set.",
    ),
    "active_already": (ConflictError, "This version is in force already.", "Reload the page."),
    "not_active": (ConflictError, "Another profile is in force by now.", "Reload the page."),
    "nothing_before": (ConflictError, "There is no profile to go back to.", "Propose one instead."),
}


@dataclass(frozen=True)
class Switched:
    """What is in force now, and what was before."""

    version: int
    from_version: int


@dataclass(frozen=True)
class Approved:
    """`self_approved`: proposer and approver are one."""

    self_approved: bool
    verdict: str | None


class Loop:
    """Thread-safe; one per process. Errors of all: Forbidden, ConflictError, NotFound, DatabaseError."""

    def __init__(self, db: Database, events: Events, profiles: Profiles) -> None:
        self._db = db
        self._events = events
        self._profiles = profiles

    def propose(
        self, profile: Profile, *, query_set: str | None = None, note: str = "", fits: Sequence[str] = ()
    ) -> int:
        """Store a profile as a new version; nothing becomes active. Errors: InputError naming the field.

        `fits`: searches that its numbers come from, beside those that found exactly these.
        """
        name = " ".join(profile.name.split())
        if not name or len(name) > NAME_LIMIT or not name.isprintable():
            raise InputError(f"The name is missing, or longer than {NAME_LIMIT} characters.", field="name")
        params = {
            "p_name": name,
            "p_body": profile.checked().as_json(),
            "p_query_set": query_set,
            "p_note": _note(note),
            "p_fits": [*fits],
        }
        answer = self._do("propose_profile", "ProfileProposed", "desk_propose_fitted_profile", params)
        return int(answer["version"])

    def approve(self, version: int, evaluation_id: str, *, note: str = "") -> Approved:
        """Say yes to a version because of one evaluation of it."""
        params = {"p_version": version, "p_evaluation_id": evaluation_id, "p_note": _note(note)}
        answer = self._do("approve_profile", "ProfileApproved", "desk_approve_profile", params)
        return Approved(bool(answer["self_approved"]), answer["verdict"])

    def activate(self, version: int) -> Switched:
        """Every search from now on uses it; searches of other processes within seconds."""
        return self._switch("ProfileActivated", "desk_activate_profile", {"p_version": version})

    def revert(self, from_version: int, *, reason: str = "") -> Switched:
        """Back to the profile before the one in force, which must still be `from_version`."""
        params = {"p_from": from_version, "p_reason": _note(reason)}
        return self._switch("ProfileReverted", "desk_revert_profile", params)

    def _switch(self, event: str, function: str, params: Mapping[str, Any]) -> Switched:
        try:
            answer = self._do("activate_profile", event, function, params)
        finally:
            self._profiles.forget()
        return Switched(int(answer["version"]), int(answer["from_version"]))

    def _do(self, action: str, event: str, function: str, params: Mapping[str, Any]) -> dict[str, Any]:
        actor: Actor = acting()
        require(actor, action)
        prepared = self._events.prepare(event, {}, actor=actor, collection="desk_profiles")
        answer = self._db.rpc(function, {**params, "p_event": prepared.row()}, read=False, returns=dict)
        if refused := answer.get("refused"):
            kind, what, hint = _REFUSALS[refused]
            raise kind(what, hint=hint)
        self._events.announce(prepared)
        return answer


def _note(text: str) -> str:
    note = text.strip()
    if len(note) > NOTE_LIMIT or "\0" in note:
        raise InputError(f"The note is longer than {NOTE_LIMIT:,} characters.", field="note")
    return note
