"""What is asked of a model and what comes back, whichever tier answers. Source: spec/companion.md, section 13."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from core.companion.contract import ContentClass

Tier = Literal["rules", "server", "cloud"]
TIERS: tuple[Tier, ...] = ("rules", "server", "cloud")  # from the innermost outwards
Reason = Literal[
    "sensitive",
    "above-maximum",
    "no-backend",
    "no-consent",
    "not-available",
    "not-ready",
    "over-budget",
    "runtime-error",
]
OnText = Callable[[str], None]
ORDER: tuple[ContentClass, ...] = ("public", "personal", "sensitive")


@dataclass(frozen=True)
class ToolCall:
    """A call that a model asks for. `opaque` is whatever its own tier wants back with the result; never stored."""

    id: str
    name: str
    arguments: Any
    opaque: Any = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Message:
    """One turn. A `tool` turn answers the call `call_id` of the tool `name`. `constant`: words of the product itself,
    without any data in them, in which the name of a person is only a word."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None
    constant: bool = False


@dataclass(frozen=True)
class Request:
    """`task` names what it is for (chat, plan, ritual, extract); `tools` are schemas as act.toolbox.schema gives them.

    `content_class` is the highest of all that goes in; texts can raise it, never lower it.
    """

    task: str
    messages: tuple[Message, ...]
    content_class: ContentClass
    tools: tuple[Mapping[str, Any], ...] = ()
    temperature: float = 0.7
    max_tokens: int = 1024
    timeout_s: float = 60.0


@dataclass(frozen=True)
class Answer:
    """What a backend gave. Tokens are 0 where it does not count them. `blocked` is the provider's own word for why it
    would not answer."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    blocked: str | None = None


@dataclass(frozen=True)
class Skip:
    """A tier that did not answer, and why; `detail` is a sentence for a person."""

    tier: Tier
    reason: Reason
    detail: str


@dataclass(frozen=True)
class Reply:
    """The answer of a tier; of the tier `rules` there is none: whoever asked answers by rules, and says why."""

    tier: Tier
    answer: Answer | None
    content_class: ContentClass
    model: str | None = None
    latency_ms: float = 0.0
    tried: tuple[Skip, ...] = ()


class Unavailable(Exception):
    """A backend that cannot answer. `detail` is for a person: it holds no text that was sent, no key, no address."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail = detail


class Backend(Protocol):
    """A model behind one of the two outer tiers. Thread-safe."""

    model: str

    def healthy(self) -> str | None:
        """None where it would answer now, else why not. Cheap; remembers its answer for a few seconds."""

    def answer(self, request: Request, on_text: OnText | None = None) -> Answer:
        """One call; text is given to `on_text` as it comes. Errors: Unavailable."""

    def close(self) -> None: ...


def highest(*classes: ContentClass) -> ContentClass:
    """The class of a mixture."""
    return max(classes, key=ORDER.index)
