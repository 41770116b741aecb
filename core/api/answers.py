"""Bytes to objects and objects to answers: strict JSON in, one form of error out."""

from __future__ import annotations

import json
import logging
import uuid
from collections.abc import Mapping
from typing import Any, NoReturn

from starlette.responses import JSONResponse, Response

from core.api.call import Text
from core.errors import CoreError, InputError

log = logging.getLogger(__name__)


def parse_object(body: bytes) -> dict[str, Any]:
    """The JSON object in a body. Errors: InputError naming `body`; never a traceback for hostile input."""
    try:
        value = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InputError("The body is not JSON.", hint="Send one JSON object in UTF-8.", field="body") from None
    if not isinstance(value, dict):
        raise InputError("The body must be a JSON object.", field="body")
    return value


def ok(value: Mapping[str, Any] | Text, status: int = 200) -> Response:
    if isinstance(value, Text):
        # As a header: Starlette would add a charset of its own.
        headers = {"Cache-Control": "no-store", "Content-Type": value.media_type}
        return Response(value.body, status_code=status, headers=headers)
    return JSONResponse(value, status_code=status, headers={"Cache-Control": "no-store"})


def failure(error: CoreError) -> Response:
    """`{error: {code, message, field?, hint?}}` with the error's status."""
    body: dict[str, Any] = {"code": error.code, "message": error.what}
    if error.field:
        body["field"] = error.field
    if error.hint:
        body["hint"] = error.hint
    headers = {"Cache-Control": "no-store"}
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if error.retryable:
        headers["Retry-After"] = "5"
    return JSONResponse({"error": body}, status_code=error.status, headers=headers)


def bug(error: Exception) -> Response:
    """An answer for what no code foresaw: an incident id for the caller; kind and place of the fault for the log."""
    incident = uuid.uuid4().hex[:12]
    places = []
    step = error.__traceback__
    while step is not None:
        places.append(f"{step.tb_frame.f_globals.get('__name__', '?')}:{step.tb_lineno}")
        step = step.tb_next
    # Not the message: it may hold dialog text.
    log.error("incident %s: %s at %s", incident, type(error).__name__, " > ".join(places[-6:]))
    message = f"Something unforeseen went wrong (incident {incident})."
    return JSONResponse({"error": {"code": "internal", "message": message}}, status_code=500)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
