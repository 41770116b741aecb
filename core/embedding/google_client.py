"""The one way a Google client is made here: at its first use, without the SDK's own retries, and kept."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from pydantic import SecretStr

if TYPE_CHECKING:
    from google import genai


class GoogleClient:
    """A client behind a lock; thread-safe. Callers bring their own deadline and retries: the SDK's know no deadline."""

    def __init__(self, api_key: SecretStr, base_url: str | None) -> None:
        self._api_key = api_key
        self._base_url = base_url
        self._lock = threading.Lock()
        self._client: genai.Client | None = None

    def get(self) -> genai.Client:
        """Built at the first call (its import takes a second) and kept: a dropped one closes itself."""
        with self._lock:
            if self._client is None:
                from google import genai
                from google.genai import types

                options = types.HttpOptions(base_url=self._base_url, retry_options=types.HttpRetryOptions(attempts=1))
                self._client = genai.Client(
                    vertexai=False, api_key=self._api_key.get_secret_value(), http_options=options
                )
            return self._client

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None
