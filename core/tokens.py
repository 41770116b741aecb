"""The token estimate of the existing service: always marked as an estimate where it is shown."""

from __future__ import annotations


def estimate_tokens(text: str) -> int:
    """Estimated tokens of a text: characters / 4, rounded up; characters as JavaScript counts them (UTF-16 units).

    Source: spec/memory.md section 7.
    """
    units = len(text.encode("utf-16-le", "surrogatepass")) // 2
    return -(-units // 4)
