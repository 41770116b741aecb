"""What a mission is told: references resolved side by side; one that cannot be is left out with a warning.

Source: spec/companion.md, MI-11.
"""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as TooLate
from dataclasses import dataclass, replace

from core.access import may, require
from core.companion.act.missions.mission import Input
from core.companion.contract import ContentClass
from core.events.actor import Actor

log = logging.getLogger(__name__)

CANDIDATES = 200
TOGETHER = 4
PATIENCE_S = 20.0


@dataclass(frozen=True)
class Candidate:
    """Something that can be chosen as an input; `hint` tells it from others of the same label."""

    ref: str
    label: str
    hint: str = ""


@dataclass(frozen=True)
class Resolved:
    """What an input says now; `content` holds no quotation marks of its own and names no dialog: `dialog_key` does."""

    module: str
    kind: str
    title: str
    content: str
    dialog_key: str | None = None


@dataclass(frozen=True)
class Source:
    """One kind of input: what can be chosen, and what a reference says; None for one that is gone."""

    module: str
    kind: str
    label: str
    candidates: Callable[[], Sequence[Candidate]]
    resolve: Callable[[str], tuple[str, str] | None]
    content_class: ContentClass = "personal"
    action: str = "companion"  # what somebody has to be allowed to choose from it


class Sources:
    """Every kind of input; thread-safe."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self._sources = {(one.module, one.kind): one for one in sources}

    @property
    def kinds(self) -> frozenset[tuple[str, str]]:
        return frozenset(self._sources)

    def all(self) -> tuple[Source, ...]:
        """Those that whoever acts here may choose from."""
        return tuple(one for one in self._sources.values() if may(one.action))

    def permit(self, actor: Actor, inputs: Iterable[Input]) -> None:
        """Errors: Forbidden where one of these is of a kind that the actor may not see."""
        for one in inputs:
            if source := self._sources.get((one.module, one.kind)):
                require(actor, source.action)

    def content_class(self, inputs: Iterable[Input]) -> ContentClass:
        """The highest of these; an unknown kind counts as sensitive."""
        found = [self._sources.get((one.module, one.kind)) for one in inputs]
        classes = {one.content_class if one else "sensitive" for one in found}
        return "sensitive" if "sensitive" in classes else "personal" if classes else "public"

    def candidates(self, source: Source) -> tuple[Candidate, ...]:
        """At most 200; none where the module does not answer: a form is not broken for that."""
        try:
            return tuple(source.candidates())[:CANDIDATES]
        except Exception as fault:
            log.warning("the inputs of %s could not be listed (%s)", source.module, type(fault).__name__)
            return ()

    def resolve(self, inputs: Sequence[Input]) -> tuple[tuple[Resolved, ...], tuple[str, ...]]:
        """In the order given; and a warning for each that was left out. Never raises."""
        if not inputs:
            return (), ()
        pool = ThreadPoolExecutor(TOGETHER, "mission input")
        try:
            asked = [(one, pool.submit(contextvars.copy_context().run, self._one, one)) for one in inputs]
            found: list[Resolved] = []
            left_out: list[str] = []
            for one, answer in asked:
                try:
                    resolved = answer.result(PATIENCE_S)
                    why = "is not there any more"
                except TooLate:
                    resolved, why = None, "did not answer in time"
                except Exception as fault:
                    log.warning("an input of %s failed (%s)", one.module, type(fault).__name__)
                    resolved, why = None, "could not be read"
                if resolved is None:
                    left_out.append(f"An input of {one.module} ({one.kind}) {why}; it was left out.")
                else:
                    found.append(resolved)
            return tuple(found), tuple(left_out)
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _one(self, given: Input) -> Resolved | None:
        source = self._sources.get((given.module, given.kind))
        said = source.resolve(given.ref) if source else None
        if said is None:
            return None
        resolved = Resolved(given.module, given.kind, *said)
        return replace(resolved, dialog_key=given.dialog_key)
