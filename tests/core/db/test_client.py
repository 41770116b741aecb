"""What the client sends, what it makes of answers, and how it comes back to life. No server: httpx.MockTransport."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator

import httpx
import pytest

from core.db.client import Database
from core.errors import (
    CoreError,
    DatabaseError,
    DatabaseUnavailable,
    InputError,
    PermissionDenied,
    SchemaMismatch,
)

URL = "http://127.0.0.1:5001"
Handler = Callable[[httpx.Request], httpx.Response]


def _db(handler: Handler, **options: object) -> Database:
    return Database(URL, "sb_secret_key", transport=httpx.MockTransport(handler), **options)  # type: ignore[arg-type]


def _answer(body: object, status: int = 200, **headers: str) -> Handler:
    return lambda request: httpx.Response(status, json=body, headers=headers)


def _failing_first(failures: list[Exception | httpx.Response], body: object) -> tuple[Handler, list[httpx.Request]]:
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        if len(seen) <= len(failures):
            failure = failures[len(seen) - 1]
            if isinstance(failure, Exception):
                raise failure
            return failure
        return httpx.Response(200, json=body)

    return handle, seen


def test_rpc_posts_named_parameters_with_the_key() -> None:
    """One POST to /rest/v1/rpc/<name>, JSON in and out."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"rows": [], "total": 0})

    assert _db(handle).rpc("desk_dialog_list", {"p_limit": 5}, read=True, returns=dict) == {"rows": [], "total": 0}
    (request,) = seen
    assert (request.method, request.url.path) == ("POST", "/rest/v1/rpc/desk_dialog_list")
    assert json.loads(request.content) == {"p_limit": 5}
    assert request.headers["apikey"] == "sb_secret_key"


def test_reads_and_writes_have_their_own_deadlines() -> None:
    """Reads give up after 10 s, writes after 65 s, a call may ask for less, and connecting never takes over 3 s."""
    waits: list[dict[str, float]] = []

    def handle(request: httpx.Request) -> httpx.Response:
        waits.append(dict(request.extensions["timeout"]))
        return httpx.Response(200, json={})

    db = _db(handle)
    db.rpc("f", read=True)
    db.rpc("f", read=False)
    db.rpc("f", read=True, timeout_s=1.5)
    assert [w["read"] for w in waits] == [10.0, 65.0, 1.5]
    assert [w["connect"] for w in waits] == [3.0, 3.0, 1.5]


@pytest.mark.parametrize("body", ["<html>sign in</html>", ""])
def test_a_page_of_html_is_no_data(body: str) -> None:
    """A 200 from something else on that address is a typed error, never rows."""
    db = _db(lambda request: httpx.Response(200, text=body, headers={"content-type": "text/html"}))
    with pytest.raises(DatabaseError, match="Something other"):
        db.rpc("f", read=True)
    with pytest.raises(DatabaseError, match="Something other"):
        db.sample("t", "id", order="id", limit=1)
    with pytest.raises(DatabaseError, match="Something other"):
        db.auth_health()


def test_json_of_another_type_is_no_data() -> None:
    """A text where an object was expected, and broken JSON under the right content type, are refused."""
    with pytest.raises(DatabaseError, match="another form"):
        _db(_answer("text")).rpc("f", read=True, returns=dict)
    broken = _db(lambda r: httpx.Response(200, text="{", headers={"content-type": "application/json"}))
    with pytest.raises(DatabaseError, match="another form"):
        broken.rpc("f", read=True, returns=list)
    with pytest.raises(DatabaseError):
        broken.auth_health()
    with pytest.raises(DatabaseError, match="another form"):
        _db(_answer(True)).rpc("f", read=True, returns=int)


def test_an_answer_that_trickles_is_cut_at_the_deadline() -> None:
    """A body that sends a byte now and then cannot hold a page for minutes."""

    class Drip(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for _ in range(100):
                time.sleep(0.02)
                yield b" "

    db = _db(lambda r: httpx.Response(200, stream=Drip(), headers={"content-type": "application/json"}))
    began = time.monotonic()
    with pytest.raises(DatabaseUnavailable, match="in time"):
        db.rpc("f", read=True, timeout_s=0.1)
    assert time.monotonic() - began < 1.0


def test_count_is_a_head_request() -> None:
    """No row travels; an answer without a count is an error and not zero."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, headers={"content-range": "0-24/3573"})

    assert _db(handle).count("client_memory_chunks") == 3573
    assert seen[0].method == "HEAD" and "count=exact" in seen[0].headers["prefer"]
    with pytest.raises(DatabaseError):
        _db(lambda r: httpx.Response(200, headers={"content-range": "*/*"})).count("t")


def test_a_head_that_fails_is_translated_by_proxy_status() -> None:
    """A HEAD has no body: the code comes in a header, else the status must do."""
    db = _db(lambda r: httpx.Response(404, headers={"proxy-status": "PostgREST; error=PGRST205"}))
    with pytest.raises(SchemaMismatch) as caught:
        db.count("gone")
    assert caught.value.detail.startswith("PGRST205")
    with pytest.raises(PermissionDenied):
        _db(lambda r: httpx.Response(401)).count("t")


def test_a_gateway_without_codes_is_read_by_its_status() -> None:
    """Supabase's gateway says "Invalid API key" without a code."""
    with pytest.raises(PermissionDenied):
        _db(_answer({"message": "Invalid API key", "hint": "Double check"}, 401)).rpc("f", read=True)


def test_pages_walk_by_key_until_an_empty_page() -> None:
    """Every row once, although the server caps pages at two."""
    rows = [{"id": f"{n}"} for n in range(5)]
    asked: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url.query, "ascii"))
        after = request.url.params.get("id", "gt.").removeprefix("gt.")
        return httpx.Response(200, json=[r for r in rows if r["id"] > after][:2])

    db = _db(handle)
    assert [
        r["id"] for page in db.pages("t", "id", size=3, where={"dialog_key": 'k"1,2 +%', "gone": None}) for r in page
    ] == list("01234")
    assert all("order=id.asc" in q and "limit=3" in q and "gone=is.null" in q for q in asked)


def test_filter_values_are_data() -> None:
    """Quotes, commas and plus signs in a value reach the server as they are."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=[])

    key = 'k"1,2\\3(x)/y+z %2F ü'
    _db(handle).sample("t", "id", order="id", limit=1, where={"dialog_key": key})
    assert seen[0].url.params["dialog_key"] == f"eq.{key}"


def test_no_failure_carries_the_foreign_text() -> None:
    """Neither the error nor its chain quotes rows: a log of the traceback stays clean."""
    secret = "he worries about trust"
    body = {"code": "23505", "message": "duplicate key", "details": f"Key (text)=({secret})", "hint": None}
    with pytest.raises(CoreError) as caught:
        _db(_answer(body, 409)).rpc("f", read=False)
    chain: BaseException | None = caught.value
    while chain is not None:
        assert secret not in str(chain)
        chain = chain.__cause__ or chain.__context__


def test_what_json_does_not_know_is_the_callers_bug() -> None:
    """NaN and numpy-like objects raise before anything is sent, and are not dressed up as a database failure."""
    sent: list[httpx.Request] = []
    db = _db(lambda request: sent.append(request) or httpx.Response(200, json={}))
    with pytest.raises(ValueError):
        db.rpc("f", {"x": float("nan")}, read=True)
    with pytest.raises(TypeError):
        db.rpc("f", {"x": object()}, read=True)
    assert sent == []


def test_a_lone_surrogate_is_an_input_error() -> None:
    """Half a character, in a parameter or in a filter, is the sender's fault and named so; nothing is sent."""
    sent: list[httpx.Request] = []
    db = _db(lambda request: sent.append(request) or httpx.Response(200, json=[]))
    with pytest.raises(InputError):
        db.rpc("f", {"x": "\ud800"}, read=True)
    with pytest.raises(InputError):
        db.sample("t", "id", order="id", limit=1, where={"dialog_key": "\ud800"})
    assert sent == []


# --- coming back to life ---------------------------------------------------------------------------------------------


def _unavailable(code: str) -> httpx.Response:
    return httpx.Response(503, json={"code": code, "message": "m", "details": None, "hint": None})


@pytest.mark.parametrize(
    "failure",
    [
        httpx.ConnectError("refused"),
        httpx.RemoteProtocolError("closed"),
        _unavailable("PGRST000"),
        _unavailable("57P01"),
    ],
)
def test_a_read_is_repeated_once_after_a_revive(failure: Exception | httpx.Response) -> None:
    """The caller sees nothing but the answer."""
    handle, seen = _failing_first([failure], {"ok": 1})
    revived: list[int] = []
    db = _db(handle, revive=lambda: revived.append(1) or URL)
    assert db.rpc("f", read=True) == {"ok": 1}
    assert (len(seen), len(revived)) == (2, 1)


def test_a_read_that_fails_again_is_an_error() -> None:
    """One repetition, not a loop."""
    handle, seen = _failing_first([httpx.ConnectError("x")] * 5, {})
    with pytest.raises(DatabaseUnavailable):
        _db(handle, revive=lambda: URL).rpc("f", read=True)
    assert len(seen) == 2


def test_a_write_that_may_have_arrived_is_not_repeated() -> None:
    """The server is brought back, and the caller decides; the next write works."""
    handle, seen = _failing_first([httpx.ReadError("reset")], {"added": 1})
    revived: list[int] = []
    db = _db(handle, revive=lambda: revived.append(1) or URL)
    with pytest.raises(DatabaseUnavailable) as caught:
        db.rpc("desk_write_chunks", read=False)
    assert caught.value.retryable
    assert (len(seen), len(revived)) == (1, 1)
    assert db.rpc("desk_write_chunks", read=False) == {"added": 1}


def test_a_write_that_was_never_sent_is_repeated() -> None:
    """Refused at the door: sending it again cannot do it twice."""
    handle, seen = _failing_first([httpx.ConnectError("refused")], {"added": 1})
    assert _db(handle, revive=lambda: URL).rpc("desk_write_chunks", read=False) == {"added": 1}
    assert len(seen) == 2


@pytest.mark.parametrize("silence", [httpx.ReadTimeout("slow"), httpx.Response(200, text="<html>")])
def test_a_slow_answer_is_not_asked_for_again(silence: Exception | httpx.Response) -> None:
    """The reviver looks whether the server is there; as it is, at the same address, the caller gets the error."""
    handle, seen = _failing_first([silence], {})
    looks: list[int] = []
    with pytest.raises(DatabaseError):
        _db(handle, revive=lambda: looks.append(1) or URL).rpc("f", read=True)
    assert (len(seen), len(looks)) == (1, 1)


def test_silence_from_a_port_that_is_no_longer_ours_is_followed_by_the_move() -> None:
    """Another program took the port: a read goes to where the server is now; a write does with the next call."""
    for read in (True, False):
        handle, seen = _failing_first([httpx.ReadTimeout("silent")], {"ok": 1})
        db = _db(handle, revive=lambda: "http://127.0.0.1:5002")
        if not read:
            with pytest.raises(DatabaseUnavailable):
                db.rpc("f", read=read)
        assert db.rpc("f", read=read) == {"ok": 1}
        assert [r.url.port for r in seen] == [5001, 5002]


def test_without_a_reviver_a_broken_connection_is_tried_once_more_for_reads() -> None:
    """A hosted project closes idle connections; a refused one is not asked again, nor is a write."""
    handle, seen = _failing_first([httpx.RemoteProtocolError("closed")], {"ok": 1})
    assert _db(handle).rpc("f", read=True) == {"ok": 1}
    for failure, read in ((httpx.ConnectError("x"), True), (httpx.RemoteProtocolError("x"), False)):
        handle, seen = _failing_first([failure], {})
        with pytest.raises(DatabaseUnavailable):
            _db(handle).rpc("f", read=read)
        assert len(seen) == 1


def test_the_client_follows_the_server_to_its_new_port() -> None:
    """After a revive on another port, calls go there."""
    ports: list[int | None] = []

    def handle(request: httpx.Request) -> httpx.Response:
        ports.append(request.url.port)
        if request.url.port == 5001:
            raise httpx.ConnectError("dead")
        return httpx.Response(200, json={})

    db = _db(handle, revive=lambda: "http://127.0.0.1:5002")
    db.rpc("f", read=True)
    db.rpc("f", read=False)
    assert ports == [5001, 5002, 5002]
    assert db.url == "http://127.0.0.1:5002"


def test_a_reviver_that_fails_leaves_the_first_error() -> None:
    """The operator reads that the database is gone, not how starting it went wrong; nor does each call try again."""
    tries: list[int] = []

    def revive() -> str:
        tries.append(1)
        raise OSError("no room")

    def dead(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("dead")

    db = _db(dead, revive=revive)
    for _ in range(3):
        with pytest.raises(DatabaseUnavailable, match="Can't reach"):
            db.rpc("f", read=True)
    assert len(tries) == 1


def test_many_threads_revive_once() -> None:
    """Sixteen callers meet the same death; the server is started by one of them and all get their answer."""
    alive = threading.Event()
    revived: list[int] = []
    together = threading.Barrier(16)

    def handle(request: httpx.Request) -> httpx.Response:
        if not alive.is_set():
            together.wait(5)
            raise httpx.ConnectError("dead")
        return httpx.Response(200, json={"ok": 1})

    def revive() -> str:
        revived.append(1)
        time.sleep(0.05)
        alive.set()
        return "http://127.0.0.1:5002"

    db = _db(handle, revive=revive)
    answers: list[object] = []
    threads = [threading.Thread(target=lambda: answers.append(db.rpc("f", read=True))) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert answers == [{"ok": 1}] * 16
    assert len(revived) == 1


def test_a_closed_database_stays_closed() -> None:
    """A late call at shutdown gets a typed error and starts nothing."""
    revived: list[int] = []
    db = _db(_answer({}), revive=lambda: revived.append(1) or URL)
    db.close()
    with pytest.raises(DatabaseUnavailable):
        db.rpc("f", read=True)
    assert revived == []


def test_auth_health_asks_with_the_key() -> None:
    """GET /auth/v1/health; a refusal is a refusal."""
    seen: list[httpx.Request] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json={"name": "GoTrue"})

    assert _db(handle).auth_health() == {"name": "GoTrue"}
    assert seen[0].url.path == "/auth/v1/health" and seen[0].headers["apikey"] == "sb_secret_key"
    with pytest.raises(PermissionDenied):
        _db(_answer({}, 401)).auth_health()


def test_redirects_are_not_followed() -> None:
    """The key must not travel to where a redirect points."""
    seen: list[str] = []

    def handle(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.host)
        return httpx.Response(302, headers={"location": "http://elsewhere.example/"})

    with pytest.raises(DatabaseError, match="redirects"):
        _db(handle).rpc("f", read=True)
    assert seen == ["127.0.0.1"]
