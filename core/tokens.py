"""The token estimate of the existing service: always marked as an estimate where it is shown."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text: UTF-16 code units / 4, rounded up, as JavaScript's `length` counts. Source: spec/memory.md section 7."""
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return -(-units // 4)
