"""What the database offers: tables and functions of schema public, as plain values. Every name here is a real one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from core.local.gateway.errors import Failure

SCHEMA = "public"
RESULT = "pgrst_call"  # the alias of a function's result in our SQL, and the name of a scalar one


@dataclass(frozen=True)
class Column:
    """`type` and `default` are SQL as the catalogue prints it, with every name qualified."""

    name: str
    type: str
    default: str | None = None

    @property
    def sql(self) -> str:
        return quote(self.name)


@dataclass(frozen=True)
class Relation:
    """Something with columns that SQL can name: a table, or a step of our own statement."""

    name: str
    sql: str
    columns: Mapping[str, Column]
    primary_key: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """Errors: Failure 400 with Postgres' own 42703."""
        found = self.columns.get(name)
        if found is None:
            raise Failure(
                400,
                "42703",
                f"column {self.name}.{name} does not exist",
                hint=_nearest(name, self.columns, f'Perhaps you meant to reference the column "{self.name}.%s".'),
            )
        return found

    def renamed(self, alias: str) -> Relation:
        return Relation(self.name, alias, self.columns, self.primary_key)


@dataclass(frozen=True)
class Argument:
    name: str
    type: str
    required: bool = True
    variadic: bool = False


@dataclass(frozen=True)
class Function:
    """`columns` is None for a scalar result; `settings` are those of its own that hold for the whole transaction."""

    name: str
    arguments: tuple[Argument, ...]
    columns: Mapping[str, Column] | None = None
    many: bool = False
    void: bool = False
    volatile: bool = True
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def sql(self) -> str:
        return f"{quote(SCHEMA)}.{quote(self.name)}"

    @property
    def takes_whole_body(self) -> bool:
        """One argument without a name, of type json or jsonb."""
        only = self.arguments
        return len(only) == 1 and not only[0].name and only[0].type in ("json", "jsonb")

    def accepts(self, names: Iterable[str]) -> bool:
        given = set(names)
        required = {a.name for a in self.arguments if a.required}
        return all(a.name for a in self.arguments) and required <= given <= {a.name for a in self.arguments}


@dataclass(frozen=True)
class Schema:
    """One reading of the catalogue; equal readings mean that nothing changed."""

    tables: Mapping[str, Relation] = field(default_factory=dict)
    functions: Mapping[str, tuple[Function, ...]] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)

    def table(self, name: str) -> Relation:
        """Errors: Failure 404 PGRST205."""
        found = self.tables.get(name)
        if found is None:
            raise Failure(
                404,
                "PGRST205",
                f"Could not find the table '{SCHEMA}.{name}' in the schema cache",
                hint=_nearest(name, self.tables, f"Perhaps you meant the table '{SCHEMA}.%s'"),
            )
        return found

    def function(self, name: str, arguments: Iterable[str], *, may_take_body: bool) -> Function:
        """The one function of that name that takes these arguments. Errors: Failure 404 PGRST202, 300 PGRST203."""
        names = sorted(arguments)
        candidates = self.functions.get(name, ())
        fitting = [f for f in candidates if f.accepts(names)]
        if not fitting and may_take_body:
            fitting = [f for f in candidates if f.takes_whole_body]
        if len(fitting) == 1:
            return fitting[0]
        if not fitting:
            raise _no_function(name, names, self.functions)
        shown = ", ".join(f"{SCHEMA}.{f.name}({_signature(f)})" for f in fitting)
        raise Failure(
            300,
            "PGRST203",
            f"Could not choose the best candidate function between: {shown}",
            hint="Try renaming the parameters or the function itself in the database so function overloading"
            " can be resolved",
        )

    def type_sql(self, name: str) -> str:
        """A type for a cast. Errors: Failure 400 with Postgres' own 42704."""
        base = name.removesuffix("[]")
        found = self.types.get(base) or self.types.get(base.lower())
        if found is None:
            raise Failure(400, "42704", f'type "{name}" does not exist')
        return found + ("[]" if name.endswith("[]") else "")


def quote(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


def _signature(function: Function) -> str:
    return ", ".join(f"{a.name} => {a.type}" for a in function.arguments)


def _no_function(name: str, names: list[str], functions: Mapping[str, tuple[Function, ...]]) -> Failure:
    called = f"{SCHEMA}.{name}({', '.join(names)})" if names else f"{SCHEMA}.{name} without parameters"
    searched = f"with parameter{'s' * (len(names) > 1)} {', '.join(names)}" if names else "without parameters"
    same_name = functions.get(name)
    if same_name:
        expected = ", ".join(a.name for a in same_name[0].arguments)
        hint = f"Perhaps you meant to call the function {SCHEMA}.{name}({expected})"
    else:
        hint = _nearest(name, functions, f"Perhaps you meant to call the function {SCHEMA}.%s") or ""
    return Failure(
        404,
        "PGRST202",
        f"Could not find the function {called} in the schema cache",
        details=f"Searched for the function {SCHEMA}.{name} {searched}, but no matches were found in the schema cache.",
        hint=hint or None,
    )


def _nearest(name: str, names: Iterable[str], sentence: str) -> str | None:
    close = difflib.get_close_matches(name, names, n=1)
    return sentence % close[0] if close else None
