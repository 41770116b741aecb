"""Several tokens at once: each with its role and its name, refused once it is over, and told from a database away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from core.access import unmasked, unmasked_reason
from core.access.caller import caller_of
from core.api import PREFIX, build_routes, mounted
from core.api.guard import Caller, check_caller
from core.config import read_settings
from core.errors import DatabaseUnavailable
from core.events import run_as, user
from tests.support.dialogs import body

if TYPE_CHECKING:
    from core.bootstrap import Core

FAR = ("192.0.2.7", 1)
ENVIRONMENT = "a-token-of-the-environment"
STATUS = {"ruId": "ru-1", "tuId": "tu-9"}


def api(core: Core, *, client: tuple[str, int] = FAR) -> TestClient:
    routes = [*build_routes(lambda: core), *mounted("/behind", lambda: core, behind)]
    return TestClient(Starlette(routes=routes), client=client, base_url="http://127.0.0.1:8501")


async def behind(scope: Scope, receive: Receive, send: Send) -> None:
    """An application of another room: says who was let in."""
    caller = caller_of(scope)
    assert caller is not None
    await JSONResponse({"who": caller.principal_id, "roles": sorted(caller.roles)})(scope, receive, send)


def with_token(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def changed(core: Core, **env: str) -> Core:
    """The same core under other settings."""
    given = {"MEMORY_DESK_DATA_DIR": str(core.settings.data_dir), **env}
    return replace(core, settings=read_settings(given))


def test_each_token_may_what_its_role_may(core: Core) -> None:
    """From another machine, at once; what is done is done by the token, under its name."""
    _, reads = core.access_desk.create_token("Dashboard", ["viewer"])
    writer, writes = core.access_desk.create_token("Importer", ["operator"])
    desk = api(core)
    assert desk.post(PREFIX + "/status", json=STATUS, headers=with_token(reads)).status_code == 200
    assert desk.post(PREFIX + "/status", json=STATUS, headers=with_token(writes)).status_code == 200
    dialog = body(None, messages=1, ruId="ru-1", tuId="tu-9")
    refused = desk.post(PREFIX + "/memory/ingest", json=dialog, headers=with_token(reads))
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "forbidden")
    assert "operator" in refused.json()["error"]["hint"]
    assert desk.post(PREFIX + "/memory/ingest", json=dialog, headers=with_token(writes)).status_code == 200
    core.events.flush()
    (event,) = core.events.store.query(type="DialogIngested").rows
    assert (event.actor.principal_id, event.actor.display_name) == (f"token:{writer.id}", "Importer")


@pytest.mark.parametrize("path", ["/memory/status", "/health", "/usage/summary", "/metrics"])
def test_no_way_in_without_one(core: Core, path: str) -> None:
    """Another machine that shows nothing, or what is no token; nothing of the token comes back."""
    desk = api(core)
    assert desk.get(PREFIX + path).status_code == 403
    for token in ("sesame", "md_abcdefgh_" + "x" * 43, "", "\xe9"):
        answer = desk.get(PREFIX + path, headers=[(b"Authorization", f"Bearer {token}".encode("latin-1"))])
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "unauthenticated"
        assert answer.headers["www-authenticate"] == "Bearer"
        assert not token or token not in answer.text


def test_a_wrong_token_on_this_machine(core: Core) -> None:
    """Somebody who shows one means it: they are not let in as nobody."""
    desk = api(core, client=("127.0.0.1", 1))
    assert desk.get(PREFIX + "/memory/status").status_code == 200
    assert desk.get(PREFIX + "/memory/status", headers=with_token("sesame")).status_code == 401


def test_revoked_and_expired(core: Core, dsn: str) -> None:
    """At the very next call, each with its own word; others stay."""
    token, secret = core.access_desk.create_token("One", ["viewer"])
    other, lasting = core.access_desk.create_token("Other", ["viewer"])
    desk = api(core)
    assert desk.get(PREFIX + "/memory/status", headers=with_token(secret)).status_code == 200
    core.access_desk.revoke_token(token.id)
    refused = desk.get(PREFIX + "/memory/status", headers=with_token(secret))
    assert (refused.status_code, refused.json()["error"]["message"]) == (401, "The API token was revoked.")
    assert desk.get(PREFIX + "/memory/status", headers=with_token(lasting)).status_code == 200
    with psycopg.connect(dsn, autocommit=True) as connection:
        past = core.clock.now() - timedelta(seconds=1)
        connection.execute("update desk_api_tokens set expires_at = %s where id = %s", [past, other.id])
    core.access_desk.bearer.forget()
    refused = desk.get(PREFIX + "/memory/status", headers=with_token(lasting))
    assert (refused.status_code, refused.json()["error"]["message"]) == (401, "The API token has expired.")


def test_the_token_of_the_environment_stays(core: Core) -> None:
    """Beside those that were made; then this machine has to show one too."""
    _, secret = core.access_desk.create_token("One", ["viewer"])
    desk = api(changed(core, MEMORY_DESK_API_TOKEN=ENVIRONMENT), client=("127.0.0.1", 1))
    for token in (secret, ENVIRONMENT):
        assert desk.get(PREFIX + "/memory/status", headers=with_token(token)).status_code == 200
    for headers in ({}, {"Authorization": f"Basic {ENVIRONMENT}"}, with_token(ENVIRONMENT[:-1])):
        assert desk.get(PREFIX + "/memory/status", headers=headers).status_code == 401


def test_a_database_that_is_away(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """503 for a token that nobody can look up, never 401; the environment's needs no database."""
    _, secret = core.access_desk.create_token("One", ["viewer"])

    def away(*_: Any, **__: Any) -> Any:
        raise DatabaseUnavailable("The memory database does not answer.")

    monkeypatch.setattr(core.db, "rpc", away)
    desk = api(changed(core, MEMORY_DESK_API_TOKEN=ENVIRONMENT))
    answer = desk.post(PREFIX + "/memory/search", json={"dialogKey": "k", "query": "q"}, headers=with_token(secret))
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "database_unavailable")
    assert answer.headers["retry-after"] == "5"
    assert desk.get(PREFIX + "/metrics", headers=with_token(ENVIRONMENT)).status_code == 200


def seen(core: Core, headers: Mapping[str, str] = {}, client: tuple[str, int] = FAR) -> Caller:
    """What the guard says of a request."""
    raw = [(name.lower().encode(), value.encode()) for name, value in {"Host": "127.0.0.1", **headers}.items()]
    return check_caller(Request({"type": "http", "method": "GET", "headers": raw, "client": client}), core)


def test_who_is_answered_unmasked(core: Core) -> None:
    """A token that says why, the environment's, and this machine with a local role that may reveal; nobody else."""
    _, plain = core.access_desk.create_token("Plain", ["admin"])
    _, audits = core.access_desk.create_token("Audit", ["auditor"], reveal_reason="Yearly audit")
    assert seen(core, with_token(plain)).reason is None
    assert seen(core, with_token(audits)).reason == "Yearly audit"
    assert seen(changed(core, MEMORY_DESK_API_TOKEN=ENVIRONMENT), with_token(ENVIRONMENT)).reason
    here = ("127.0.0.1", 1)
    assert seen(core, client=here).reason
    local = seen(changed(core, MEMORY_DESK_LOCAL_ROLE="viewer,operator"), client=here)
    assert local.reason is None and local.actor.roles == {"viewer", "operator"}


def test_the_answer_knows_whether_it_is_unmasked(core: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside the handler's thread, and nowhere after it."""
    _, plain = core.access_desk.create_token("Plain", ["auditor"])
    _, audits = core.access_desk.create_token("Audit", ["auditor"], reveal_reason="Yearly audit")
    told: list[Any] = []

    def look() -> dict[str, Any]:
        told.append((unmasked(), unmasked_reason()))
        return {"ready": True}

    monkeypatch.setattr(core.health, "memory_status", look)
    for token in (plain, audits, plain):
        api(core).get(PREFIX + "/memory/status", headers=with_token(token))
    assert told == [(False, None), (True, "Yearly audit"), (False, None)]
    assert not unmasked()


def test_what_is_mounted_behind_the_guard(core: Core) -> None:
    """The same tokens, and it is told whose."""
    token, secret = core.access_desk.create_token("Assistant", ["viewer", "tuner"])
    desk = api(core)
    found = desk.post("/behind", headers=with_token(secret)).json()
    assert found == {"who": f"token:{token.id}", "roles": ["tuner", "viewer"]}
    core.access_desk.revoke_token(token.id)
    assert desk.post("/behind", headers=with_token(secret)).status_code == 401
    assert desk.post("/behind").status_code == 403


def test_a_token_makes_no_token(core: Core) -> None:
    """Its role is its own: acting as one that is no administrator nothing of access can be changed."""
    from core.errors import Forbidden

    with run_as(user("token:abcdefgh", "Importer", ["operator"])), pytest.raises(Forbidden):
        core.access_desk.create_token("More", ["admin"])
