"""The Accept header: an array or one object, with or without nulls. Nothing but JSON is in the slice."""

from __future__ import annotations

from dataclasses import dataclass

from core.local.gateway.errors import Failure

OBJECT, ARRAY = "application/vnd.pgrst.object", "application/vnd.pgrst.array"
PLAIN = ("*/*", "application/*", "application/json", "")


@dataclass(frozen=True)
class Accepted:
    """`media` is the Content-Type of the answer."""

    media: str = "application/json; charset=utf-8"
    single: bool = False
    strip: bool = False


def parse_accept(header: str | None) -> Accepted:
    """The first media type that can be made. Errors: Failure 406 PGRST107."""
    offered = [entry.strip() for entry in (header or "*/*").split(",")]
    for entry in offered:
        media, *options = (part.strip().lower() for part in entry.split(";"))
        strip = "nulls=stripped" in options
        suffix = ";nulls=stripped" if strip else ""
        if media in PLAIN:
            return Accepted()
        if media.removesuffix("+json") == OBJECT:
            return Accepted(f"{OBJECT}+json{suffix}; charset=utf-8", single=True, strip=strip)
        if media.removesuffix("+json") == ARRAY:
            return Accepted(f"{ARRAY}+json{suffix}; charset=utf-8" if strip else Accepted.media, strip=strip)
    raise Failure(406, "PGRST107", f"None of these media types are available: {', '.join(offered)}")
