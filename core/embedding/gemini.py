"""Gemini's embeddings through google-genai, with its failures told apart."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from pydantic import SecretStr

from core.embedding.google_client import GoogleClient
from core.embedding.provider import DIMENSIONS, check_vectors
from core.errors import (
    BadEmbedding,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)

MODEL = "gemini-embedding-001"
BATCH = 32  # documents a call. Source: spec/memory.md section 2
RETRIED_STATUS = {408, 429, 500, 502, 503, 504}


class GeminiEmbedder:
    """`timeout_s` is the deadline of one batch with all its attempts; the values of the vectors stay as they come."""

    name = f"{MODEL}:{DIMENSIONS}"
    dimensions = DIMENSIONS

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str | None = None,
        timeout_s: float = 60.0,
        attempts: int = 4,
        first_delay_s: float = 0.5,
    ) -> None:
        self._timeout_s = timeout_s
        self._attempts = attempts
        self._first_delay_s = first_delay_s
        self._google = GoogleClient(SecretStr(api_key), base_url)

    def embed_documents(self, texts: Sequence[str]) -> np.ndarray:
        """Batches of 32 one after the other; a failed batch fails the call, so that nothing is half done."""
        batches = [texts[at : at + BATCH] for at in range(0, len(texts), BATCH)]
        parts = [self._embed(list(batch), "RETRIEVAL_DOCUMENT") for batch in batches]
        return np.concatenate(parts) if parts else check_vectors([], 0)

    def embed_query(self, text: str) -> np.ndarray:
        row: np.ndarray = self._embed([text], "RETRIEVAL_QUERY")[0]
        return row

    def close(self) -> None:
        self._google.close()

    def _embed(self, texts: list[str], task: str) -> np.ndarray:
        deadline = time.monotonic() + self._timeout_s
        attempt = 1
        while True:
            try:
                answer = self._call(texts, task, max(deadline - time.monotonic(), 0.001))
                return check_vectors([e.values or [] for e in answer.embeddings or []], len(texts))
            except ProviderError:
                raise
            except Exception as problem:
                failure = _translate(problem)
                pause = max(
                    self._first_delay_s * 2 ** (attempt - 1) * random.uniform(0.75, 1.25), _retry_after(problem)
                )
            if not failure.retryable or attempt == self._attempts or time.monotonic() + pause >= deadline:
                raise failure
            time.sleep(pause)
            attempt += 1

    def _call(self, texts: list[Any], task: str, seconds: float) -> Any:
        """One HTTP request. The SDK's own retries are off: they know no deadline and ignore Retry-After."""
        from google.genai import types

        return self._google.get().models.embed_content(
            model=MODEL,
            contents=texts,
            config=types.EmbedContentConfig(
                task_type=task,
                output_dimensionality=DIMENSIONS,
                http_options=types.HttpOptions(timeout=max(1, round(seconds * 1000))),  # milliseconds
            ),
        )


def _translate(problem: Exception) -> ProviderError:
    """One foreign failure as ours. Only codes and type names are kept: Google's messages can quote what was sent."""
    from google.genai import errors

    if isinstance(problem, errors.APIError):
        return _of_status(int(problem.code or 0), str(problem.status or ""))
    # By name, as google-genai raises httpx2's errors and older versions of it httpx's.
    kinds = {kind.__name__ for kind in type(problem).__mro__}
    detail = type(problem).__name__
    if "TimeoutException" in kinds:
        return ProviderTimeout("Gemini gave no answer in time.", hint="Retry, or raise the time limit.", detail=detail)
    if kinds & {"UnsupportedProtocol", "InvalidURL"}:
        return ProviderRefused("Gemini's address is no URL.", hint="Check GOOGLE_GEMINI_BASE_URL.", detail=detail)
    if kinds & {"TransportError", "OSError"}:
        return ProviderUnavailable("Gemini cannot be reached.", hint="Check the network, then retry.", detail=detail)
    return BadEmbedding("Gemini's answer cannot be read.", hint="Check GOOGLE_GEMINI_BASE_URL.", detail=detail)


def _of_status(code: int, status: str) -> ProviderError:
    detail = f"HTTP {code} {status if re.fullmatch(r'[A-Z_]{1,40}', status) else ''}".strip()
    if code == 429:
        return RateLimited("Gemini's rate limit or quota is used up.", hint="Wait a minute, then retry.", detail=detail)
    if code in (408, 504):
        return ProviderTimeout("Gemini gave up on the request.", hint="Retry.", detail=detail)
    if code in (401, 403):
        return ProviderRefused("Gemini refused the key.", hint="Check BESCO_GEMINI_API_KEY.", detail=detail)
    if code == 404:
        return ProviderRefused(f"Gemini does not know {MODEL}.", hint="Check GOOGLE_GEMINI_BASE_URL.", detail=detail)
    if code >= 500:
        return ProviderUnavailable(
            f"Gemini failed with {code}.", hint="Retry in a moment.", detail=detail, retryable=code in RETRIED_STATUS
        )
    return ProviderRefused(
        f"Gemini refused the request with {code or 'no code'}.",
        hint="Check BESCO_GEMINI_API_KEY, and the texts: an empty one spoils its batch.",
        detail=detail,
    )


def _retry_after(problem: Exception) -> float:
    """Seconds that the answer asks to wait, 0 when it does not say."""
    headers = getattr(getattr(problem, "response", None), "headers", None) or {}
    value = str(headers.get("retry-after", ""))
    return float(value) if value.isascii() and value.isdigit() else 0.0
