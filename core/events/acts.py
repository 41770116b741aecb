"""Kinds of acts, as somebody who reads the log asks for them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from core.events.access_room import ACCESS as ROOM
from core.events.actor import Actor

REVEALS = ("PersonalDataRevealed",)
EXPORTS = ("DataExported", "JudgementsExported")
# What shows texts of a dialog to whoever asked.
READS = ("DialogOpened", "SearchPerformed", "SearchFallbackUsed", "SearchEmpty", "SnapshotsCompared")
# Who comes in, and who may what.
ACCESS = tuple(known.name for known in ROOM if known.event_class == "audit" and known.name not in (*REVEALS, *EXPORTS))
AI = (
    *("CompanionToolCalled", "ProposalCreated", "ProposalDecided", "PolicyChanged", "IterationReverted"),
    *("MissionCreated", "MissionChanged", "MissionStateChanged", "MissionRunStarted", "MissionIterationFinished"),
)


@dataclass(frozen=True)
class Act:
    """A kind of acts: of these types, or of all but those, and of a class. `or_ai`: whatever an AI did, too."""

    label: str
    types: tuple[str, ...] | None = None
    without: tuple[str, ...] | None = None
    event_class: str | None = None
    or_ai: bool = False

    def query(self) -> dict[str, Any]:
        """As EventStore.find takes it."""
        return {
            "types": self.types,
            "without": self.without,
            "event_class": self.event_class,
            "or_ai": self.or_ai,
        }

    def has(self, type: str, event_class: str, by: str) -> bool:
        """Whether such an event belongs here; as desk_activity filters."""
        if self.types is not None and type not in self.types and not (self.or_ai and by == "ai"):
            return False
        if self.without is not None and type in self.without:
            return False
        return self.event_class in (None, event_class)


# An audit event is a change, a reveal, an export or one of access; what an AI did is beside that one of AI.
ACTS: Mapping[str, Act] = MappingProxyType(
    {
        "all": Act("everything"),
        "changes": Act("changes", without=(*REVEALS, *EXPORTS, *ACCESS), event_class="audit"),
        "reveals": Act("reveals", REVEALS),
        "exports": Act("exports", EXPORTS),
        "reads": Act("reads of personal text", READS),
        "access": Act("sign-in and access", ACCESS),
        "ai": Act("AI", AI, or_ai=True),
        "looks": Act("other observations", without=READS, event_class="observation"),
    }
)
# Who acts; a program that calls the API is told apart from a person.
BY: Mapping[str, str] = MappingProxyType(
    {"anybody": "anybody", "user": "a person", "api": "an API token", "system": "the product", "ai": "an AI"}
)


@dataclass(frozen=True)
class Counted:
    """So many events of a type, a class, a part, by a kind of actor."""

    type: str
    event_class: str
    app_id: str
    by: str
    n: int


@dataclass(frozen=True)
class ActorCount:
    """So many events of one actor; `name` is the latest."""

    principal: str
    name: str
    by: str
    n: int


@dataclass(frozen=True)
class Counts:
    """How many events there are, whatever kind somebody looks at; the 200 most active of the actors."""

    kinds: tuple[Counted, ...] = ()
    actors: tuple[ActorCount, ...] = ()

    def of(self, act: str = "all", by: str | None = None, app_id: str | None = None, type: str | None = None) -> int:
        """The number under these filters; None of one is any."""
        return sum(
            one.n
            for one in self.kinds
            if ACTS[act].has(one.type, one.event_class, one.by)
            and by in (None, one.by)
            and app_id in (None, one.app_id)
            and type in (None, one.type)
        )


def counts_of(answer: Mapping[str, Any]) -> Counts:
    """Source: SQL function desk_activity_counts."""
    return Counts(
        tuple(Counted(k["type"], k["class"], k["app_id"] or "", k["by"], int(k["n"])) for k in answer["kinds"]),
        tuple(ActorCount(a["principal"], a["name"] or a["principal"], a["by"], int(a["n"])) for a in answer["actors"]),
    )


def by_of(actor: Actor) -> str:
    """A person, a program with a token, the product or an AI; as SQL function desk_event_by."""
    program = actor.kind == "user" and actor.principal_id.startswith(("token:", "api:"))
    return "api" if program else actor.kind
