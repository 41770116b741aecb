"""Tier 3: Gemini, through google-genai; only after consent, which the router asks for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from core.companion.converse.llm.contract import Answer, Message, OnText, Request, ToolCall, Unavailable
from core.embedding.google_client import GoogleClient

if TYPE_CHECKING:
    from google.genai import types

PAUSE_AFTER_FAILURE_S = 15.0
_FINE = ("", "STOP", "MAX_TOKENS", "FINISH_REASON_UNSPECIFIED")


class Cloud:
    """Thread-safe. It is not asked whether it is well, which would send a request: a failure rests it for a while."""

    def __init__(self, api_key: SecretStr, model: str, *, base_url: str | None = None) -> None:
        self.model = model
        self._google = GoogleClient(api_key, base_url)
        self._lock = threading.Lock()
        self._failed: tuple[float, str] | None = None

    def healthy(self) -> str | None:
        with self._lock:
            if self._failed and time.monotonic() - self._failed[0] < PAUSE_AFTER_FAILURE_S:
                return self._failed[1]
        return None

    def answer(self, request: Request, on_text: OnText | None = None) -> Answer:
        try:
            return self._ask(request, on_text)
        except Exception as problem:
            failure = problem if isinstance(problem, Unavailable) else Unavailable(_told(problem))
            with self._lock:
                self._failed = (time.monotonic(), failure.detail)
            raise failure from None

    def close(self) -> None:
        self._google.close()

    def _ask(self, request: Request, on_text: OnText | None) -> Answer:
        until = time.monotonic() + request.timeout_s
        text: list[str] = []
        calls: list[ToolCall] = []
        prompt = completion = 0
        blocked = None
        stream = self._google.get().models.generate_content_stream(
            model=self.model, contents=_contents(request.messages), config=_config(request)
        )
        for chunk in stream:
            if time.monotonic() > until:
                raise Unavailable(f"Gemini gave no whole answer within {request.timeout_s:g} s.")
            used = chunk.usage_metadata
            if used is not None:
                prompt = used.prompt_token_count or prompt
                completion = (used.candidates_token_count or 0) + (used.thoughts_token_count or 0) or completion
            blocked = _blocked(chunk) or blocked
            for part in _parts(chunk):
                if part.function_call is not None and part.function_call.name:
                    asked = part.function_call
                    calls.append(
                        ToolCall(asked.id or f"call-{len(calls)}", asked.name or "", dict(asked.args or {}), part)
                    )
                elif part.text and not part.thought:
                    text.append(part.text)
                    if on_text:
                        on_text(part.text)
        return Answer("".join(text), tuple(calls), prompt, completion, blocked)


def _config(request: Request) -> types.GenerateContentConfig:
    from google.genai import types

    told = "\n\n".join(m.content for m in request.messages if m.role == "system")
    declared = [
        types.FunctionDeclaration(
            name=tool["function"]["name"],
            description=tool["function"]["description"],
            parameters_json_schema=tool["function"]["parameters"],
        )
        for tool in request.tools
    ]
    return types.GenerateContentConfig(
        system_instruction=told or None,
        temperature=request.temperature,
        max_output_tokens=request.max_tokens,
        tools=[types.Tool(function_declarations=declared)] if declared else None,
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        http_options=types.HttpOptions(timeout=max(1, round(request.timeout_s * 1000))),  # milliseconds
    )


def _contents(messages: tuple[Message, ...]) -> list[types.Content]:
    from google.genai import types

    contents: list[types.Content] = []
    for message in messages:
        if message.role == "system":
            continue
        if message.role == "tool":
            part = types.Part.from_function_response(name=message.name or "tool", response={"result": message.content})
            if part.function_response is not None and message.call_id and not message.call_id.startswith("call-"):
                part.function_response.id = message.call_id
            parts, role = [part], "user"
        else:
            parts = [types.Part.from_text(text=message.content)] if message.content else []
            # The part as it came: Gemini wants its own signature back with the result.
            parts += [
                c.opaque
                if isinstance(c.opaque, types.Part)
                else types.Part.from_function_call(
                    name=c.name, args=c.arguments if isinstance(c.arguments, dict) else {}
                )
                for c in message.calls
            ]
            role = "model" if message.role == "assistant" else "user"
        if contents and contents[-1].role == role and message.role == "tool":
            contents[-1].parts = [*(contents[-1].parts or []), *parts]
        elif parts:
            contents.append(types.Content(role=role, parts=parts))
    return contents


def _parts(chunk: Any) -> list[Any]:
    candidate = (chunk.candidates or [None])[0]
    return (candidate.content.parts or []) if candidate is not None and candidate.content else []


def _blocked(chunk: Any) -> str | None:
    feedback = chunk.prompt_feedback
    if feedback is not None and feedback.block_reason:
        return _word(feedback.block_reason)
    candidate = (chunk.candidates or [None])[0]
    reason = _word(getattr(candidate, "finish_reason", None))
    return None if reason in _FINE else reason


def _told(problem: Exception) -> str:
    """Only codes and kinds: Google's messages can quote what was sent."""
    from google.genai import errors

    if isinstance(problem, errors.APIError):
        return {
            401: "Gemini refused the key.",
            403: "Gemini refused the key.",
            404: "Gemini does not know the model.",
            429: "Gemini's rate limit or quota is used up.",
        }.get(int(problem.code or 0), f"Gemini failed with {problem.code or 'no code'}.")
    kinds = {kind.__name__ for kind in type(problem).__mro__}
    if "TimeoutException" in kinds:
        return "Gemini gave no answer in time."
    if kinds & {"TransportError", "OSError"}:
        return "Gemini cannot be reached."
    return "Gemini's answer cannot be read."


def _word(value: Any) -> str:
    name = str(getattr(value, "value", value) or "")
    return name if name.replace("_", "").isalpha() and name.isupper() else ""
