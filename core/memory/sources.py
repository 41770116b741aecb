"""The kinds of chunk, their boosts, and every limit of the memory path. Source: spec/memory.md section 2."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, get_args

Source = Literal["note", "profile", "photo", "summary", "conversation"]
Direction = Literal["incoming", "outgoing"]
ComposeMode = Literal["reply", "both"]
KeyOrder = Literal["tips", "generic", "custom"]

SOURCES: tuple[Source, ...] = get_args(Source)
DEFAULT_WEIGHTS: Mapping[str, float] = MappingProxyType({"note": 0.18, "profile": 0.08, "photo": 0.05})
WEIGHTS_VERSION = 1

# Lengths are UTF-16 code units, as the existing JavaScript backend counts them.
NOTE_LIMIT = 800
CHUNK_LIMIT = 420
MESSAGE_LIMIT = 420
MESSAGES_PER_INGEST = 80
PROFILE_ROWS = 10

LIMIT_DEFAULT = 12
LIMIT_MIN = 1
LIMIT_MAX = 24

# Ours, where upstream sets none: values beyond these cannot be index keys in Postgres (2,704 bytes a row).
ID_LIMIT = 256
KEY_LIMIT = 512
URL_LIMIT_BYTES = 2_000
