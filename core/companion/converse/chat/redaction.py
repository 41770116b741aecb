"""What a model may be told of live data: aliases for dialogs, and nothing that the detector calls sensitive."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from core.companion.contract import ModuleTool, ToolResult
from core.companion.converse.llm.aliases import Aliases

WhyNot = Callable[..., str | None]  # Router.why_not

WITHHELD = "[withheld: for the operator only]"
# Meals reach no model at all, in no form; other sensitive tools give a redacted form of what they found.
NEVER = frozenset({"food"})
RESULT_LIMIT = 6_000  # characters
LINES_LIMIT = 60  # that are looked at one by one; beyond that all is withheld


def sifted(why_not: WhyNot, text: str) -> str:
    """The lines of a text that may be told; one line in the place of those that may not."""
    if not text or why_not(text) is None:
        return text
    lines = text.split("\n")
    if len(lines) > LINES_LIMIT:
        return WITHHELD
    kept = [line if not line.strip() or why_not(line) is None else WITHHELD for line in lines]
    told = "\n".join(kept)
    return told if why_not(told) is None else WITHHELD


def told(tool: ModuleTool | None, result: ToolResult, aliases: Aliases, why_not: WhyNot) -> str:
    """The result of a tool as a model gets it: JSON of bounded length, leaf by leaf what may be told."""
    shown: dict[str, Any] = {"success": result.success}
    if tool is not None and tool.module in NEVER:
        shown["message"] = "Done." if result.success else "It did not work."
        shown["note"] = "Figures and words of meals are shown to the operator only."
        return json.dumps(shown)
    shown |= {"message": result.message, "data": result.llm_data}
    plain = json.loads(json.dumps(aliases.hide(shown), default=str))
    if why_not(*leaves(plain)) is not None:
        found = list(dict.fromkeys(leaves(plain)))
        bad = set(found) if len(found) > LINES_LIMIT else {leaf for leaf in found if why_not(leaf) is not None}
        plain = _without(plain, bad)
        if why_not(*leaves(plain)) is not None:
            plain = {"success": result.success, "message": WITHHELD}
    text = json.dumps(plain, ensure_ascii=False)
    return text if len(text) <= RESULT_LIMIT else f"{text[:RESULT_LIMIT]}… (cut)"


def leaves(value: Any) -> list[str]:
    """Every text and number in a plain value, names of fields included, as text."""
    if isinstance(value, dict):
        return [leaf for name, found in value.items() for leaf in (name, *leaves(found))]
    if isinstance(value, list):
        return [leaf for one in value for leaf in leaves(one)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _without(value: Any, bad: set[str]) -> Any:
    if isinstance(value, dict):
        return {WITHHELD if name in bad else name: _without(found, bad) for name, found in value.items()}
    if isinstance(value, list):
        return [_without(one, bad) for one in value]
    return WITHHELD if not isinstance(value, bool) and value is not None and str(value) in bad else value


def texts_of(turn: Sequence[Any]) -> list[str]:
    """What of the messages of a turn would be sent."""
    return [part for message in turn for part in (message.content, *(repr(c.arguments) for c in message.calls))]
