"""One Supabase project as Memory Desk uses it: typed answers, short deadlines, one error tree, a second life."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from postgrest.types import CountMethod
from supabase import Client

from core.config import is_loopback
from core.db.connect import http_client, supabase_client
from core.db.failures import connection_lost, never_sent, no_sign, translate, translate_status
from core.db.keys import KeyRole, key_role
from core.db.rows import Row, walk
from core.db.sealing import Sealer
from core.db.transport import UnexpectedAnswer, calling
from core.errors import CoreError, DatabaseError, DatabaseUnavailable

log = logging.getLogger(__name__)
T = TypeVar("T")

READ_S = 10.0
# Above the 60 s that `desk_write_chunks` gives itself, so that the database's own words arrive.
WRITE_S = 65.0
_REVIVE_PAUSE_S = 2.0
COMPANION = "companion_"  # what may hold sealed text


class Database:
    """Thread-safe; one per process. Raises the errors of core.errors alone, except for a caller's own bug
    (TypeError or ValueError for a value that JSON does not know).

    `revive` starts again whatever is dead and returns the address to use from now on. A read is then repeated once;
    a write only where nothing of it was sent, otherwise the caller gets DatabaseUnavailable and decides.
    """

    def __init__(
        self,
        url: str,
        key: str,
        *,
        timeout_s: float = READ_S,
        write_timeout_s: float = WRITE_S,
        revive: Callable[[], str] | None = None,
        transport: httpx.BaseTransport | None = None,
        sealer: Sealer | None = None,
    ) -> None:
        self.role: KeyRole = key_role(key)
        self._key = key
        self._read_s = timeout_s
        self._write_s = write_timeout_s
        self._revive = revive
        self._transport = transport
        self._sealer = sealer or Sealer()
        self._lock = threading.Lock()
        self._lives = 0
        self._gave_up_at = float("-inf")
        self._closed = False
        self._open(url)

    @property
    def url(self) -> str:
        """Where the project answers now; a revive can change it."""
        return self._url

    @property
    def host(self) -> str:
        return urlsplit(self._url).netloc

    @property
    def local(self) -> bool:
        return is_loopback(urlsplit(self._url).hostname or "")

    def rpc(
        self,
        name: str,
        params: Mapping[str, Any] | None = None,
        *,
        read: bool,
        returns: type[T] = object,  # type: ignore[assignment]  # PEP 696 defaults need Python 3.13
        timeout_s: float | None = None,
        sealed: bool = False,
    ) -> T:
        """What a SQL function returns. Shape: `returns` (dict, list, int); anything else is a DatabaseError.

        A function that returns a set of rows is cut at 1,000 by the data API; ours return one JSON value. Free text of
        the companion is sealed on its way in and opened on its way out; `sealed`: it is given and taken as it lies.
        """
        given = dict(params or {}) if sealed else dict(self._sealer.sealed_params(name, params or {}))
        answer = self._ask(lambda client: client.rpc(name, given).execute(), read, timeout_s)
        found = answer.data if sealed or not name.startswith(COMPANION) else self._sealer.open(answer.data)
        return _typed(found, returns, name)

    def count(self, table: str, *, timeout_s: float | None = None) -> int:
        """The exact number of rows that this key may see."""
        answer = self._ask(
            lambda client: client.table(table).select("*", count=CountMethod.exact, head=True).execute(),
            True,
            timeout_s,
        )
        return _typed(answer.count, int, table)

    def sample(
        self,
        table: str,
        columns: str,
        *,
        order: str,
        limit: int,
        where: Mapping[str, Any] | None = None,
        descending: bool = False,
        after: Any = None,
        timeout_s: float | None = None,
        sealed: bool = False,
    ) -> list[Row]:
        """At most `limit` rows in the order of one unique column; `after`: only those beyond that value of it."""

        def send(client: Client) -> Any:
            query = client.table(table).select(columns)
            for column, value in (where or {}).items():
                query = query.is_(column, "null") if value is None else query.eq(column, value)
            if after is not None:
                query = query.lt(order, after) if descending else query.gt(order, after)
            return query.order(order, desc=descending).limit(limit).execute()

        found = _typed(self._ask(send, True, timeout_s).data, list, table)
        return found if sealed or not table.startswith(COMPANION) else self._sealer.open(found)

    def pages(
        self,
        table: str,
        columns: str,
        *,
        key: str = "id",
        size: int = 500,
        where: Mapping[str, Any] | None = None,
        sealed: bool = False,
    ) -> Iterator[list[Row]]:
        """The whole table in pages, ascending by a unique column that must be among `columns`."""
        return walk(
            lambda after: self.sample(table, columns, order=key, limit=size, where=where, after=after, sealed=sealed),
            key,
        )

    def auth_health(self, timeout_s: float | None = None) -> dict[str, Any]:
        """The answer of GET /auth/v1/health. Errors: as for any read."""

        def send(_: Client) -> Any:
            answer = self._http.get(f"{self._url}/auth/v1/health", headers={"apikey": self._key})
            if not answer.is_success:
                raise translate_status(answer.status_code)
            try:
                return answer.json()
            except ValueError:
                raise UnexpectedAnswer("no JSON") from None

        return _typed(self._ask(send, True, timeout_s), dict, "auth/v1/health")

    def close(self) -> None:
        """Close the connections; further calls fail with DatabaseUnavailable, and revive nothing."""
        self._closed = True
        self._http.close()

    def _open(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._http = http_client(self._url, default_s=self._read_s, transport=self._transport)
        self._client = supabase_client(self._url, self._key, self._http)
        _ = self._client.postgrest  # made on first use, which many threads may share

    def _ask(self, send: Callable[[Client], Any], read: bool, timeout_s: float | None) -> Any:
        budget = timeout_s or (self._read_s if read else self._write_s)
        life = self._lives
        answer, error = self._once(send, budget)
        if error is None:
            return answer
        if self._worth_repeating(error, read, life):
            answer, error = self._once(send, budget)
            if error is None:
                return answer
        raise error

    def _worth_repeating(self, error: CoreError, read: bool, life: int) -> bool:
        lost = connection_lost(error)
        if self._revive is None:
            return lost and read and not never_sent(error)
        if not lost and not no_sign(error):
            return False
        url = self._url
        back = self._brought_back(life)
        if lost:
            return back and (read or never_sent(error))
        # Slow, or something else on that port: the reviver looks which. Only in the latter case is it asked again.
        return back and read and self._url != url

    def _once(self, send: Callable[[Client], Any], budget_s: float) -> tuple[Any, CoreError | None]:
        http = self._http
        with calling(budget_s) as call:
            try:
                return send(self._client), None
            except (TypeError, ValueError) as bug:
                if not isinstance(bug, UnicodeEncodeError):
                    raise
                return None, translate(bug)
            except RuntimeError:
                if not http.is_closed:
                    raise
                # Closed for good, or replaced by another thread's revive while this one was about to send.
                return None, DatabaseUnavailable(
                    "The connection to the memory database was closed.",
                    detail="closed" if self._closed else "ReadError",
                )
            except Exception as foreign:
                # Returned, so that what is raised carries no chain: the foreign text can quote rows and keys.
                return None, translate(foreign, status=call.status)

    def _brought_back(self, life: int) -> bool:
        """Whether the server lives again; many threads may notice its death, one of them acts."""
        assert self._revive is not None
        with self._lock:
            if self._lives != life:
                return True
            if time.monotonic() - self._gave_up_at < _REVIVE_PAUSE_S:
                return False
            try:
                url = self._revive()
            except Exception:
                log.exception("the database could not be started again")
                self._gave_up_at = time.monotonic()
                return False
            if url.rstrip("/") != self._url:
                self._http.close()
                self._open(url)
            self._lives += 1
            return True


def _typed(value: Any, expected: type[T], what: str) -> T:
    if isinstance(value, expected) and not (isinstance(value, bool) and expected is int):
        return value
    raise DatabaseError(
        "The database answered in another form than expected.",
        hint="Open Health: the schema may be older than this version.",
        detail=f"{what}: {type(value).__name__} where {expected.__name__} was expected",
    )
