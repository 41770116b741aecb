"""Actions, roles, and the one question: may this actor do that?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import get_args

from core.config import Role
from core.errors import Forbidden
from core.events.actor import FOR_NOBODY, Actor, current_actor

# A person or a token holds a set of roles; it may do what any of them may. An admin may do everything.
EVERYBODY: tuple[Role, ...] = ("viewer", "auditor", "tuner", "operator", "owner")


@dataclass(frozen=True)
class Action:
    """Something that can be done, and the roles beside admin that may. `changes`: rows are different afterwards;
    `personal`: texts of people are seen, masked."""

    name: str
    does: str
    who: frozenset[str]
    changes: bool = False
    personal: bool = False


def _action(name: str, does: str, *who: Role, changes: bool = False, personal: bool = False) -> Action:
    return Action(name, does, frozenset(who), changes, personal)


def _named(*actions: Action) -> Mapping[str, Action]:
    return MappingProxyType({action.name: action for action in actions})


ACTIONS = _named(
    _action("status", "see counts and dates of a dialog", *EVERYBODY),
    _action("list_dialogs", "list dialogs, without their texts", *EVERYBODY),
    _action("read_dialog", "read the chunks of a dialog", *EVERYBODY, personal=True),
    _action("search", "search the memory of a dialog", *EVERYBODY, personal=True),
    _action("search_all", "search across all dialogs", *EVERYBODY, personal=True),
    _action("ingest", "write a dialog into memory", "operator", changes=True),
    _action("preview_ingest", "see what an ingest would write", "operator", personal=True),
    _action("demo_load", "load the demo data", "operator", changes=True),
    _action("demo_remove", "remove the demo data", "operator", changes=True),
    _action("migrate", "change the schema of the database", changes=True),
    _action("rebuild_rollups", "count the totals again", "operator", changes=True),
    _action("usage", "see what the calls used and cost", *EVERYBODY),
    _action("record_usage", "write token usage", "operator", changes=True),
    _action("set_price", "change the price table and the budget", changes=True),
    _action("judgements", "see labelled queries and what was judged", *EVERYBODY, personal=True),
    _action("judge", "label queries and grade what was found", "tuner", changes=True, personal=True),
    _action("evaluate", "compare profiles on labelled queries", "tuner", changes=True),
    _action("profiles", "see the retrieval profiles and how they did", *EVERYBODY),
    _action("propose_profile", "propose a retrieval profile", "tuner", changes=True),
    _action("approve_profile", "approve a retrieval profile", "tuner", changes=True),
    _action("activate_profile", "bring a retrieval profile into force, or go back", "tuner", changes=True),
    _action("health", "see the state of every component", *EVERYBODY),
    _action("settings", "see the effective configuration, secrets masked", *EVERYBODY),
    _action("snapshots", "see and compare snapshots", *EVERYBODY, personal=True),
    _action("snapshots_capture", "write snapshots of a dialog", "operator", changes=True),
    _action("snapshots_pin", "keep a snapshot beyond its expiry", "operator", changes=True),
    _action("snapshots_cleanup", "delete expired snapshots", "operator", changes=True),
    _action("jobs", "see the jobs and how far they are", *EVERYBODY),
    _action("jobs_cancel", "stop a job", "operator", changes=True),
    _action("reembed", "embed chunks of another model again", "operator", changes=True),
    _action("switch_recipe", "switch what of a chunk is embedded", "operator", changes=True),
    _action("corrections", "see what was excluded, merged and erased", "auditor", "operator", personal=True),
    _action("exclude_chunks", "take chunks out of the memory, or put them back", "operator", changes=True),
    _action("delete_superseded", "delete chunks that a newer text replaced", "operator", changes=True),
    _action("merge_keys", "merge the two keys of a pair, or undo that", "operator", changes=True),
    _action("erase_person", "erase a person", "operator", changes=True),
    _action("events", "see who did what", "auditor"),
    _action("health_check", "compare totals with the rows and sample the vector index", "operator", changes=True),
    _action(
        *("own_day", "see own tasks, appointments, drinks, meals and places, and what was learned of them", "owner"),
        personal=True,
    ),
    _action("own_day_change", "change own tasks, appointments, drinks, meals and places", "owner", changes=True),
    _action("companion", "see what the companion knows and proposes", "auditor", "operator", "owner"),
    _action("chat", "talk with the companion", "owner", changes=True, personal=True),
    _action("change_goals", "make, change and end goals", "operator", "owner", changes=True),
    _action("change_rituals", "make, change and end routines", "operator", "owner", changes=True),
    _action("run_rituals", "walk through a routine", "operator", "owner", changes=True),
    _action("answer_nudges", "act on, put off and dismiss nudges", "operator", "owner", changes=True),
    _action("judge_facts", "confirm and contradict what was learned, or have it forgotten", "owner", changes=True),
    _action("learn_facts", "have a fact learned, or a model look for some", "owner", changes=True),
    _action("change_missions", "make, change, run and end missions", "operator", "owner", changes=True),
    _action("decide_proposals", "approve and reject what an AI proposes", "operator", "owner", changes=True),
    _action("companion_policy", "say what an AI may do", changes=True),
    _action("revert_ai", "take back what an AI did", "operator", "owner", changes=True),
    _action("photos_describe", "have a photo described by a model", "operator", changes=True, personal=True),
    _action("retrievals", "see what searches returned and what reached a prompt", *EVERYBODY, personal=True),
    _action("report_context", "report wrong context, or take that back", "auditor", "tuner", "operator", changes=True),
    _action("retrieval_retention", "set for how long searches are recorded", changes=True),
    _action("reveal", "see personal data unmasked", "auditor", personal=True),
    _action("export", "download what a page shows", *EVERYBODY),
    _action("access", "see who may what, people and API tokens"),
    _action("change_access", "change roles and API tokens, and end sessions", changes=True),
    _action(
        "save_view", "keep the state of a page as a view of one's own, and choose a time zone", *EVERYBODY, changes=True
    ),
    _action("share_view", "share a view with the team", "auditor", "tuner", "operator", changes=True),
)

# A role and what it may do.
ROLES: Mapping[Role, frozenset[str]] = MappingProxyType(
    {
        role: frozenset(name for name, action in ACTIONS.items() if role == "admin" or role in action.who)
        for role in get_args(Role)
    }
)

_granted: ContextVar[frozenset[str]] = ContextVar("granted", default=frozenset())


@contextmanager
def granted(*actions: str) -> Iterator[None]:
    """Inside, an AI may do these: for the tool executor alone, once policy or a person has said yes."""
    token = _granted.set(_granted.get() | set(actions))
    try:
        yield
    finally:
        _granted.reset(token)


def allowed(actor: Actor, action: str) -> bool:
    """Whether the actor may do it. The product itself may do everything. An AI has no role of its own: it may do what
    is granted to it, for as long as that one tool runs, and never more than whom it acts for; a mission that runs by
    its clock acts for nobody. Errors: ValueError for an action that does not exist, a bug."""
    if action not in ACTIONS:
        raise ValueError(f"there is no action {action!r}")
    if actor.kind == "system":
        return True
    held = not actor.roles.isdisjoint(who_may(action))
    if actor.kind == "ai":
        return action in _granted.get() and (held or actor.roles == FOR_NOBODY)
    return held


def require(actor: Actor, action: str) -> None:
    """Return if the actor may do it. Errors: Forbidden, naming the action and not the actor."""
    if not allowed(actor, action):
        raise Forbidden(
            f"You may not {ACTIONS[action].does}.",
            hint=f"Ask an administrator for a role that may: {' or '.join(who_may(action))}.",
            detail=f"{actor.kind} actor, action {action}",
        )


def acting() -> Actor:
    """Whoever acts here. Errors: Forbidden where nobody does."""
    actor = current_actor()
    if actor is None:
        raise Forbidden("Nobody is signed in.", hint="Sign in first.", detail="no actor")
    return actor


def permit(action: str) -> None:
    """Return if whoever acts here may do it. Errors: Forbidden, also where nobody acts."""
    require(acting(), action)


def may(action: str) -> bool:
    """Whether whoever acts here may do it; False where nobody acts."""
    actor = current_actor()
    return actor is not None and allowed(actor, action)


def who_may(action: str) -> tuple[Role, ...]:
    """The roles that may, from the least."""
    return tuple(role for role in get_args(Role) if action in ROLES[role])
