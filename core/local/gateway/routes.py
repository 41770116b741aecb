"""What each path and method does. Synchronous: the server runs it in a thread of its own."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from core.local.gateway.accept import Accepted, parse_accept
from core.local.gateway.auth import Caller, identify
from core.local.gateway.cache import SchemaCache
from core.local.gateway.call import call_statement, choose_function, refuse_max_affected
from core.local.gateway.config import GatewayConfig
from core.local.gateway.errors import Failure
from core.local.gateway.execute import execute
from core.local.gateway.payload import Payload
from core.local.gateway.pool import Pool
from core.local.gateway.preferences import Preferences, parse_preferences
from core.local.gateway.query import Query, parse_query, split
from core.local.gateway.read import read_statement
from core.local.gateway.reply import (
    JSON,
    Reply,
    change_reply,
    check_change,
    check_single,
    failed,
    insert_reply,
    rows_reply,
)
from core.local.gateway.schema import SCHEMA, Schema
from core.local.gateway.statement import Outcome, Statement
from core.local.gateway.write import delete_statement, insert_statement, update_statement

REST, HEALTH = "/rest/v1/", "/auth/v1/health"
# A miss, or Postgres missing what the cache still has: the catalogue may have changed since it was read.
STALE = {"PGRST202", "PGRST204", "PGRST205", "42703", "42704", "42804", "42883", "42P01"}


@dataclass(frozen=True)
class Request:
    """`headers` have lower-case names; the last of a repeated one counts, but the values of Prefer are joined."""

    method: str
    path: str
    query: bytes
    headers: dict[str, str]
    body: bytes = b""


@dataclass(frozen=True)
class Asked:
    """A request for one table or function, with everything known about it before its query string is read."""

    request: Request
    name: str
    caller: Caller
    wants: Preferences
    accepted: Accepted
    schema: Schema

    def query(self, *, takes_arguments: bool = False) -> Query:
        header = self.request.headers.get("range") if self.request.method == "GET" else None
        pairs = split(self.request.query)
        return parse_query(pairs, self.name, range_header=header, takes_arguments=takes_arguments)

    def payload(self) -> Payload:
        return Payload.of(self.request.body, self.request.headers.get("content-type"))


class Gateway:
    """Answers requests; thread-safe."""

    def __init__(self, config: GatewayConfig, pool: Pool, cache: SchemaCache) -> None:
        self._config = config
        self._pool = pool
        self._cache = cache

    def answer(self, request: Request) -> Reply:
        """Never raises a Failure: it becomes the reply."""
        try:
            return self._answer(request)
        except Failure as failure:
            return failed(failure)

    def _answer(self, request: Request) -> Reply:
        caller = identify(request.headers, self._config)
        if request.path == HEALTH and request.method in ("GET", "HEAD"):
            body = b'{"name":"GoTrue","version":"local","description":"Memory Desk local gateway: health only"}'
            return Reply(200, [("Content-Type", JSON)], body)
        route, name = self._find(request)
        _check_profile(request)
        wants = parse_preferences(request.headers.get("prefer", ""))
        began = time.monotonic()
        asked = Asked(request, name, caller, wants, parse_accept(request.headers.get("accept")), self._cache.current())
        try:
            return route(asked)
        except Failure as failure:
            if failure.code not in STALE:
                raise
            newer = self._cache.newer_than(began)
            if newer == asked.schema:
                raise
        return route(replace(asked, schema=newer))

    def _find(self, request: Request) -> tuple[Callable[[Asked], Reply], str]:
        name = request.path.removeprefix(REST)
        if not name:
            raise Failure(404, "PGRST126", "Root endpoint metadata is disabled")
        if name.startswith("rpc/") and request.path.startswith(REST):
            name, route = name[4:], self._call
            allowed: tuple[str, ...] = ("GET", "HEAD", "POST")
            refusal = Failure(405, "PGRST101", "Only GET, HEAD, and POST are allowed on RPC")
        else:
            allowed = ("GET", "HEAD", "POST", "PATCH", "DELETE")
            route = self._read if request.method in ("GET", "HEAD") else self._write
            refusal = Failure(405, "PGRST117", f"Unsupported HTTP method: {request.method}")
        if not request.path.startswith(REST) or not name or "/" in name:
            raise Failure(404, "PGRST125", "Invalid path specified in request URL")
        if request.method not in allowed:
            raise refusal
        return route, name

    def _read(self, asked: Asked) -> Reply:
        query = asked.query()
        statement = read_statement(
            asked.schema.table(asked.name),
            query,
            asked.schema,
            asked.accepted,
            max_rows=self._config.max_rows,
            count=asked.wants.count is not None,
            body=asked.request.method == "GET",
        )
        outcome = self._run(statement, asked, check_single if asked.accepted.single else None)
        return rows_reply(outcome, query.window.offset, asked.accepted.media, asked.wants)

    def _write(self, asked: Asked) -> Reply:
        method, wants, accepted = asked.request.method, asked.wants, asked.accepted
        table, query = asked.schema.table(asked.name), asked.query()
        if method == "DELETE":
            statement = delete_statement(table, query, asked.schema, accepted, wants)
        elif method == "PATCH":
            statement = update_statement(table, query, asked.payload(), asked.schema, accepted, wants)
        else:
            statement = insert_statement(table, query, asked.payload(), asked.schema, accepted, wants)

        def check(outcome: Outcome) -> None:
            check_change(outcome, wants, accepted.single)

        outcome = self._run(statement, asked, check if accepted.single or wants.max_affected is not None else None)
        if method == "POST":
            return insert_reply(outcome, asked.name, accepted.media, wants)
        return change_reply(outcome, accepted.media, wants, deleted=method == "DELETE")

    def _call(self, asked: Asked) -> Reply:
        posted, wants = asked.request.method == "POST", asked.wants
        query = asked.query(takes_arguments=not posted)
        payload = asked.payload() if posted else None
        function = choose_function(asked.schema, asked.name, query, payload)
        refuse_max_affected(function, wants)
        single = asked.accepted.single and function.many
        statement = call_statement(
            function,
            query,
            payload,
            asked.schema,
            replace(asked.accepted, single=single),
            max_rows=self._config.max_rows,
            count=wants.count is not None,
            body=asked.request.method != "HEAD",
        )

        def check(outcome: Outcome) -> None:
            check_change(outcome, wants, False)
            if single:
                check_single(outcome)

        outcome = self._run(statement, asked, check if single or wants.max_affected is not None else None)
        if function.void:
            return Reply(204)
        return rows_reply(outcome, query.window.offset, asked.accepted.media, wants)

    def _run(self, statement: Statement, asked: Asked, check: Callable[[Outcome], None] | None) -> Outcome:
        with self._pool.connection() as connection:
            return execute(connection, statement, asked.caller, check)


def _check_profile(request: Request) -> None:
    header = "accept-profile" if request.method in ("GET", "HEAD") else "content-profile"
    profile = request.headers.get(header, SCHEMA)
    if profile != SCHEMA:
        hint = f"Only the following schemas are exposed: {SCHEMA}"
        raise Failure(406, "PGRST106", f"Invalid schema: {profile}", hint=hint)
