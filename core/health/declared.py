"""What the migrations make: the names of tables and functions that stand at their end. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

# A statement that stands at the beginning of a line; in the body of a function it is indented.
_MADE = re.compile(
    r"^(create|drop) (?:or replace )?(table|function) (?:if (?:not )?exists )?(?:public\.)?(\w+)", re.MULTILINE
)


class _File(Protocol):
    @property
    def sql(self) -> str: ...


@dataclass(frozen=True)
class Declared:
    tables: frozenset[str]
    functions: frozenset[str]

    def missing(self, state: Mapping[str, Any]) -> list[str]:
        """Names that the database lacks. `state` as desk_schema_state gives it; {} where it is not known."""
        if not state:
            return []
        lacking = (self.tables - set(state["tables"])) | (self.functions - set(state["functions"]))
        return sorted(lacking)


def declared(migrations: Iterable[_File] | Sequence[_File]) -> Declared:
    """In the order of the files: what a later one drops is not wanted."""
    names: dict[str, set[str]] = {"table": set(), "function": set()}
    for file in migrations:
        for verb, kind, name in _MADE.findall(file.sql):
            (names[kind].add if verb == "create" else names[kind].discard)(name)
    return Declared(frozenset(names["table"]), frozenset(names["function"]))
