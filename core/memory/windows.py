"""A long conversation as several ingests, so that none of its messages falls out of the latest 80. Pure.

One ingest keeps the latest 80 meaningful messages; of a long dialog that loses most of what was said (86 % of the
evidence over ten conversations: notes/embedders.md section 3e). Windows of 80, oldest first, lose nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.memory.dates import in_time_order
from core.memory.messages import NAMES, find_messages, read_messages
from core.memory.notices import Findings
from core.memory.places import PLACES, at, json_argument
from core.memory.sources import MESSAGES_PER_INGEST


def count_windows(body: Mapping[str, Any]) -> tuple[int, int]:
    """(windows, messages that one plain ingest would leave out). Errors: InputError for text that is not JSON."""
    messages = len(_meaningful(json_argument(body, "conversationJson")))
    older = max(0, messages - MESSAGES_PER_INGEST)
    return max(1, -(-messages // MESSAGES_PER_INGEST)), older


def split_windows(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Bodies to be ingested one after the other, each with at most 80 meaningful messages, in time order.

    Together they hold every message that one ingest without a limit would store, once, under the same ids and hashes.
    Everything else of the body (profile, notes, ids) is in each of them, as the key depends on it. A body of 80 or
    fewer comes back alone, unchanged. Errors: InputError for text that is not JSON.
    """
    payload = json_argument(body, "conversationJson")
    ordered = _meaningful(payload)
    if len(ordered) <= MESSAGES_PER_INGEST:
        return [dict(body)]
    parts = [ordered[i : i + MESSAGES_PER_INGEST] for i in range(0, len(ordered), MESSAGES_PER_INGEST)]
    return [{**body, "conversationJson": _with_messages(payload, part)} for part in parts]


def _meaningful(payload: Any) -> list[Any]:
    """The messages as they came, those that would be stored, in the order of their times."""
    kept: list[Any] = []
    moments = []
    for raw in find_messages(payload, Findings()):
        for message in read_messages([raw], Findings()):
            kept.append(raw)
            moments.append(message.at)
    return in_time_order(kept, moments)


def _with_messages(payload: Any, messages: list[Any]) -> Any:
    if isinstance(payload, list):
        return messages
    # The same search as find_messages: the first list that is not empty.
    for name in NAMES:
        for place in PLACES:
            found = at(payload, (*place, name))
            if isinstance(found, list) and found:
                return _replaced(payload, (*place, name), messages)
    return payload


def _replaced(node: Mapping[str, Any], path: tuple[str, ...], value: Any) -> dict[str, Any]:
    head, *rest = path
    return {**node, head: _replaced(node[head], tuple(rest), value) if rest else value}
