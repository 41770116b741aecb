"""The Prefer header: what the client wants back, and how strictly."""

from __future__ import annotations

from dataclasses import dataclass

from core.local.gateway.errors import Failure

CHOICES = {
    "return": ("representation", "minimal", "headers-only"),
    "count": ("exact", "planned", "estimated"),
    "resolution": ("merge-duplicates", "ignore-duplicates"),
    "missing": ("default", "null"),
    "handling": ("strict", "lenient"),
    "tx": ("commit", "rollback"),
}


@dataclass(frozen=True)
class Preferences:
    """Each is None where the client did not say; `applied` lists what is honoured, as it was sent."""

    returned: str | None = None
    count: str | None = None
    resolution: str | None = None
    missing: str | None = None
    strict: bool = False
    max_affected: int | None = None
    applied: tuple[str, ...] = ()


def parse_preferences(header: str) -> Preferences:
    """Of two contradicting preferences the first counts. Errors: Failure PGRST122, an unknown one where strict."""
    given: dict[str, str] = {}
    unknown: list[str] = []
    for token in (part.strip() for part in header.split(",")):
        name, _, value = token.partition("=")
        if value in CHOICES.get(name, ()) or (name == "max-affected" and value.isdigit()):
            given.setdefault(name, value)
        elif token:
            unknown.append(token)
    strict = given.get("handling") == "strict"
    if strict and unknown:
        raise Failure(
            400,
            "PGRST122",
            "Invalid preferences given with handling=strict",
            details=f"Invalid preferences: {', '.join(unknown)}",
        )
    honoured = {name: value for name, value in given.items() if name != "tx"}
    if not strict:
        honoured.pop("max-affected", None)
    return Preferences(
        returned=given.get("return"),
        count=given.get("count"),
        resolution=given.get("resolution"),
        missing=given.get("missing"),
        strict=strict,
        max_affected=int(given["max-affected"]) if strict and "max-affected" in given else None,
        applied=tuple(f"{name}={value}" for name, value in honoured.items()),
    )
