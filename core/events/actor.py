"""Who acts: a person, the product itself, or an AI; known to everything called inside `run_as`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, get_args

ActorKind = Literal["user", "system", "ai"]
SystemSource = Literal["projection", "rule", "migration", "stream", "mission-runner", "bootstrap"]
_NAME_LIMIT = 120
# Of an AI that acts for nobody in particular: a mission that runs by its clock, a proposal that somebody approved.
FOR_NOBODY = frozenset({"*"})


@dataclass(frozen=True)
class Actor:
    """One who acts; `display_name` is as it was then, a later rename does not rewrite history.

    `source` belongs to system actors; an AI names its mission, its iteration, its reason and, where somebody is there,
    for whom it acts (`on_behalf_of`, a name). `roles` are those of a
    person or token now: they say what it may do, and are no part of who it is. Errors: ValueError where one of these
    is missing. Source: spec/companion.md, EV-2.
    """

    kind: ActorKind
    principal_id: str
    display_name: str
    source: str | None = None
    mission_id: str | None = None
    iteration_id: str | None = None
    rationale: str | None = None
    roles: frozenset[str] = field(default=frozenset(), compare=False)
    on_behalf_of: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in get_args(ActorKind) or not self.principal_id or not self.display_name:
            raise ValueError("an actor has a kind, a principal and a name")
        if self.kind == "ai" and not (self.mission_id and self.iteration_id and self.rationale):
            raise ValueError("an AI acts within a mission and an iteration, and says why")

    def as_json(self) -> dict[str, str]:
        """The fields that are set, as `companion_events.actor` holds them."""
        return {name: value for name, value in asdict(self).items() if value is not None and name != "roles"}


def user(principal_id: str, display_name: str | None = None, roles: Iterable[str] = ()) -> Actor:
    """A person, or what a person started: `token:<name>` for the API, `cli:<os user>` for the command line."""
    return Actor("user", principal_id, (display_name or principal_id)[:_NAME_LIMIT], roles=frozenset(roles))


def system(source: SystemSource) -> Actor:
    """A part of the product that acts by itself."""
    return Actor("system", f"system:{source}", source, source=source)


def ai(
    principal_id: str,
    display_name: str,
    *,
    mission_id: str,
    iteration_id: str,
    rationale: str,
    roles: Iterable[str] = FOR_NOBODY,
    on_behalf_of: str | None = None,
) -> Actor:
    """A model at work within a mission. `roles`: of whom it acts for; it may do no more than they may."""
    name, whom = display_name[:_NAME_LIMIT], (on_behalf_of or "")[:_NAME_LIMIT] or None
    return Actor("ai", principal_id, name, None, mission_id, iteration_id, rationale, frozenset(roles), whom)


# Where there is no sign-in: the one who sits at this machine.
LOCAL_OPERATOR = user("local", "Local operator", ("admin",))

_host: Callable[[], Actor | None] | None = None
_asking: ContextVar[bool] = ContextVar("asking for the actor", default=False)
_ambient: ContextVar[Actor | None] = ContextVar("actor", default=None)


@contextmanager
def run_as(actor: Actor) -> Iterator[Actor]:
    """Everything emitted inside, also across `await`, is done by this actor; the former one returns afterwards.

    Worker threads do not inherit it: run them through `contextvars.copy_context().run`. Only for boundaries: page
    action, API request, command line, tool executor, mission runner, dispatcher.
    """
    token = _ambient.set(actor)
    try:
        yield actor
    finally:
        _ambient.reset(token)


def current_actor() -> Actor | None:
    """The actor of the innermost `run_as`; outside of any whoever the host says sits behind this thread, or None."""
    actor = _ambient.get()
    if actor is not None or _host is None or _asking.get():
        return actor
    token = _asking.set(True)  # whom it is may be asked of core itself, which must not ask again
    try:
        return _host()
    finally:
        _asking.reset(token)


def ask_host(host: Callable[[], Actor | None] | None) -> None:
    """From now on ask this where no `run_as` is: for a host that calls core where nothing can be put around, as
    Streamlit does with the callbacks of widgets. It answers None in every thread of its own that serves nobody."""
    global _host
    _host = host


def normalize_actor(raw: Any) -> Actor:
    """An Actor from whatever an old row or a caller holds; never raises.

    None, text and unknown kinds become a legacy user; what is missing is filled with `legacy:*`; the old form
    `{kind: system, source: X}` gets the principal `system:X`. Source: spec/companion.md, EV-5.
    """
    if isinstance(raw, Actor):
        return raw
    found = {str(k): _text(v) for k, v in raw.items()} if isinstance(raw, Mapping) else {}
    kind = found.get("kind")
    principal, name = found.get("principal_id"), found.get("display_name")
    if kind == "system":
        source = found.get("source") or (principal or "").removeprefix("system:") or "legacy"
        principal = principal or (f"system:{found['source']}" if found.get("source") else "legacy:system")
        return Actor("system", principal, name or source, source=source)
    if kind == "ai":
        return Actor(
            "ai",
            principal or "legacy:ai",
            name or principal or "legacy:ai",
            mission_id=found.get("mission_id") or "legacy:mission",
            iteration_id=found.get("iteration_id") or "legacy:iteration",
            rationale=found.get("rationale") or "legacy:rationale",
            roles=FOR_NOBODY,
            on_behalf_of=found.get("on_behalf_of"),
        )
    if kind == "user":
        roles = raw.get("roles") if isinstance(raw, Mapping) else None
        held = frozenset(r for r in roles if isinstance(r, str)) if isinstance(roles, (list, tuple)) else frozenset()
        return Actor("user", principal or "legacy:user", name or principal or "legacy:user", roles=held)
    return Actor("user", "legacy:unknown", "legacy:unknown")


def _text(value: Any) -> str | None:
    # Only texts and numbers: str() of a foreign object may raise, or be anything.
    return str(value)[:500] if isinstance(value, (str, int, float)) and value != "" else None
