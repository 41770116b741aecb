"""Actions, roles, and the one question: may this actor do that?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from core.errors import Forbidden
from core.events.actor import Actor

Role = Literal["local"]


@dataclass(frozen=True)
class Action:
    """Something that can be done. `changes`: rows are different afterwards; `personal`: texts of people are seen."""

    name: str
    does: str
    changes: bool = False
    personal: bool = False


def _named(*actions: Action) -> Mapping[str, Action]:
    return MappingProxyType({action.name: action for action in actions})


ACTIONS = _named(
    Action("status", "see counts and dates of a dialog"),
    Action("list_dialogs", "list dialogs, without their texts"),
    Action("read_dialog", "read the chunks of a dialog", personal=True),
    Action("search", "search the memory of a dialog", personal=True),
    Action("search_all", "search across all dialogs", personal=True),
    Action("ingest", "write a dialog into memory", changes=True),
    Action("preview_ingest", "see what an ingest would write", personal=True),
    Action("demo_load", "load the demo data", changes=True),
    Action("demo_remove", "remove the demo data", changes=True),
    Action("migrate", "change the schema of the database", changes=True),
    Action("rebuild_rollups", "count the totals again", changes=True),
    Action("usage", "see what the calls used and cost"),
    Action("record_usage", "write token usage", changes=True),
    Action("set_price", "change the price table and the budget", changes=True),
    Action("judgements", "see labelled queries and what was judged", personal=True),
    Action("judge", "label queries and grade what was found", changes=True, personal=True),
    Action("evaluate", "compare profiles on labelled queries", changes=True),
    Action("profiles", "see the retrieval profiles and how they did"),
    Action("propose_profile", "propose a retrieval profile", changes=True),
    Action("approve_profile", "approve a retrieval profile", changes=True),
    Action("activate_profile", "bring a retrieval profile into force, or go back", changes=True),
    Action("health", "see the state of every component"),
    Action("settings", "see the effective configuration, secrets masked"),
    Action("snapshots", "see and compare snapshots", personal=True),
    Action("snapshots_capture", "write snapshots of a dialog", changes=True),
    Action("snapshots_pin", "keep a snapshot beyond its expiry", changes=True),
    Action("snapshots_cleanup", "delete expired snapshots", changes=True),
    Action("jobs", "see the jobs and how far they are"),
    Action("jobs_cancel", "stop a job", changes=True),
    Action("reembed", "embed chunks of another model again", changes=True),
    Action("switch_recipe", "switch what of a chunk is embedded", changes=True),
    Action("corrections", "see what was excluded, merged and erased", personal=True),
    Action("exclude_chunks", "take chunks out of the memory, or put them back", changes=True),
    Action("delete_superseded", "delete chunks that a newer text replaced", changes=True),
    Action("merge_keys", "merge the two keys of a pair, or undo that", changes=True),
    Action("erase_person", "erase a person", changes=True),
    Action("events", "see who did what"),
    Action("health_check", "compare totals with the rows and sample the vector index", changes=True),
    Action("own_day", "see own tasks, appointments, drinks, meals and places", personal=True),
    Action("own_day_change", "change own tasks, appointments, drinks, meals and places", changes=True),
    Action("companion", "see what the companion knows and proposes"),
    Action("chat", "talk with the companion", changes=True, personal=True),
    Action("change_goals", "make, change and end goals", changes=True),
    Action("change_rituals", "make, change and end routines", changes=True),
    Action("run_rituals", "walk through a routine", changes=True),
    Action("answer_nudges", "act on, put off and dismiss nudges", changes=True),
    Action("judge_facts", "confirm and contradict what was learned, or have it forgotten", changes=True),
    Action("learn_facts", "have a fact learned, or a model look for some", changes=True),
    Action("change_missions", "make, change, run and end missions", changes=True),
    Action("decide_proposals", "approve and reject what an AI proposes", changes=True),
    Action("companion_policy", "say what an AI may do", changes=True),
    Action("revert_ai", "take back what an AI did", changes=True),
    Action("photos_describe", "have a photo described by a model and store the words", changes=True, personal=True),
    Action("retrievals", "see what searches returned and what reached a prompt", personal=True),
    Action("report_context", "report wrong context, or take that back", changes=True),
    Action("retrieval_retention", "set for how long searches are recorded", changes=True),
)

# A role and what it may do. Sign-in adds roles here; nothing else has to change.
ROLES: Mapping[Role, frozenset[str]] = MappingProxyType({"local": frozenset(ACTIONS)})

# Until there is sign-in, whoever sits at this machine, and the product itself, may do everything. An AI has no role
# of its own: it may do what the policy let through, for as long as that one tool runs.
_ROLE_OF_KIND: Mapping[str, Role | None] = MappingProxyType({"user": "local", "system": "local", "ai": None})

_granted: ContextVar[frozenset[str]] = ContextVar("granted", default=frozenset())


@contextmanager
def granted(*actions: str) -> Iterator[None]:
    """Inside, an AI may do these: for the tool executor alone, once policy or a person has said yes."""
    token = _granted.set(_granted.get() | set(actions))
    try:
        yield
    finally:
        _granted.reset(token)


def role_of(actor: Actor) -> Role | None:
    """The role of an actor, or None for one who has none."""
    return _ROLE_OF_KIND[actor.kind]


def allowed(actor: Actor, action: str) -> bool:
    """Whether the actor's role may do it. Errors: ValueError for an action that does not exist, a bug."""
    if action not in ACTIONS:
        raise ValueError(f"there is no action {action!r}")
    role = role_of(actor)
    if role is None:
        return action in _granted.get()
    return action in ROLES[role]


def require(actor: Actor, action: str) -> None:
    """Return if the actor may do it. Errors: Forbidden, naming the action and not the actor."""
    if not allowed(actor, action):
        raise Forbidden(
            f"You may not {ACTIONS[action].does}.",
            hint="Ask an administrator for a role that may.",
            detail=f"{actor.kind} actor, action {action}",
        )
