"""One call, from the arguments as they came to the words that go back. Nothing of the protocol's streams is here.

The answer is the redacted form of a result, dialogs by the session's names for them, of bounded length. What is wrong
with a call is an answer too, so that an assistant reads it and can do better.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from core.bootstrap import Core
from core.companion.act.toolbox import Toolbox
from core.companion.contract import ModuleTool
from core.companion.converse.chat.redaction import RESULT_LIMIT, told
from core.errors import CoreError
from core.mcp.sessions import Session

MISSHAPEN = "?arguments"  # stands for arguments that are no object; its value says what they are
CUT = f"The answer is longer than {RESULT_LIMIT:,} characters and was cut. Ask for less: a limit, a shorter range."
_NAME_OF_A_DIALOG = re.compile(r"dialog-[0-9a-f]{6}")
_CALLED = {str: "text", list: "a list", bool: "true or false", int: "a number", float: "a number"}


@dataclass(frozen=True)
class Answer:
    """The texts that go back; `failed` where the assistant has to do something else."""

    texts: tuple[str, ...]
    failed: bool = False


def shaped(params: Mapping[str, Any] | None) -> dict[str, Any]:
    """The parameters of a `tools/call` so that the protocol's schema takes them; `answer` says what was wrong."""
    found = dict(params or {})
    arguments = found.get("arguments")
    if arguments is not None and not isinstance(arguments, Mapping):
        found["arguments"] = {MISSHAPEN: _CALLED.get(type(arguments), "no object")}
    if not isinstance(found.get("name"), str):
        found["name"] = ""
    return found


def answer(get_core: Callable[[], Core], session: Session, name: str, arguments: Mapping[str, Any]) -> Answer:
    """What came of the call, by the executor and as an AI: what reads is run, what changes is staged, or refused."""
    try:
        core = get_core()
    except CoreError as error:
        return _no(str(error))
    act = core.companion.act
    tool = act.toolbox.find(name)
    if tool is None:
        return _no(_unknown(act.toolbox, name))
    if MISSHAPEN in arguments:
        return _no(_misshapen(tool, arguments[MISSHAPEN]))
    given = session.aliases.reveal(dict(arguments))
    for value in given.values():
        if isinstance(value, str) and _NAME_OF_A_DIALOG.fullmatch(value):
            return _no(f"{value} names no dialog in this session: take a name from an answer that you got here.")
    try:
        # Asked here too: what the executor says of a database that is away could not be looked at, and be withheld.
        act.policies.current()
    except CoreError as error:
        return _no(str(error))
    result = act.executor.call(tool.name, given, actor=session.actor(), only_reads=True)
    text = told(tool, result, session.aliases, core.companion.router.why_not)
    return Answer((text, CUT) if len(text) > RESULT_LIMIT else (text,), not result.success)


def _no(reason: str) -> Answer:
    return Answer((reason,), True)


def _misshapen(tool: ModuleTool, what: Any) -> str:
    takes = ", ".join(p.name for p in tool.parameters)
    return (
        f"arguments is {str(what)[:20]} and has to be a JSON object itself. {tool.name} was not called. "
        + (f"Its parameters: {takes}." if takes else "It takes none: send {}.")
    )  # fmt: skip


def _unknown(toolbox: Toolbox, name: str) -> str:
    if not name:
        return "The call names no tool: name has to be a text."
    near = difflib.get_close_matches(name[:60], [tool.name for tool in toolbox.all()], n=3)
    meant = f" Did you mean {', '.join(near)}?" if near else ""
    return f"There is no tool {name[:60]!r}.{meant} tools/list names them all."
