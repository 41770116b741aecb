"""A file that somebody hands in -> the ingest bodies inside it. JSON, JSON lines, or a ZIP of those.

Nothing is left out in silence. Reads a byte-order mark, CRLF and blank lines; passes over what a
Mac or an editor put beside the data. Pure.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, NoReturn

from core.memory.notices import Notice

SIZE_LIMIT = 20 * 1024 * 1024  # of one body, as the API's; a ZIP may unpack to ten times that
MEMBERS = 10_000  # of an archive: its list alone would take long
TOO_LARGE = f"Not read: one dialog of more than {SIZE_LIMIT // 2**20} MB. Split it."
REQUEST_FIELDS = ("conversationJson", "profileJson")
LIFTED = ("dialogKey", "ruId", "tuId", "composeMode", "photoUrl")
SUFFIXES = (".json", ".jsonl", ".ndjson")


@dataclass(frozen=True)
class UploadedBody:
    """One ingest body and where it stood: `chat.jsonl, line 3`."""

    label: str
    body: dict[str, Any]


@dataclass(frozen=True)
class Upload:
    """What could be read, in file order, and a notice for each part that could not."""

    bodies: tuple[UploadedBody, ...]
    problems: tuple[Notice, ...]


def read_upload(name: str, data: bytes, *, numbered: bool = False) -> Upload:
    """Bodies of one file by its content, not by its name's ending; a file without any has a problem that says why.

    `numbered`: what a ZIP holds is called by its place in there, not by its name.
    """
    bodies: list[UploadedBody] = []
    problems: list[Notice] = []
    members = _members(name, data, problems, numbered) if data[:4] == b"PK\x03\x04" else iter([(name, data)])
    for label, content in members:
        for item in _read(label, content):
            if isinstance(item, Notice):
                problems.append(item)
            else:
                bodies.append(item)
    if not bodies and not problems:
        problems.append(Notice(name, "The file holds no dialog."))
    return Upload(tuple(bodies), tuple(problems))


def _members(name: str, data: bytes, problems: list[Notice], numbered: bool) -> Iterator[tuple[str, bytes]]:
    budget = 10 * SIZE_LIMIT
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if len(archive.infolist()) > MEMBERS:
                problems.append(Notice(name, f"Not read: the archive holds more than {MEMBERS:,} files."))
                return
            for number, info in enumerate(archive.infolist(), start=1):
                label = f"{name}: entry {number}" if numbered else f"{name}: {info.filename}"
                if info.is_dir() or _is_side_file(info.filename):
                    continue
                if PurePosixPath(info.filename).suffix.lower() not in SUFFIXES:
                    problems.append(Notice(label, "Not read: neither .json nor .jsonl."))
                    continue
                budget -= info.file_size
                if info.file_size > SIZE_LIMIT or budget < 0:
                    problems.append(Notice(label, "Not read: it unpacks to more than the limit."))
                    continue
                with archive.open(info) as member:
                    yield label, member.read(SIZE_LIMIT + 1)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError):
        problems.append(Notice(name, "The archive is damaged, encrypted, or packed in an unknown way."))


def _is_side_file(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return "__MACOSX" in parts or any(part.startswith(".") for part in parts)


def _read(label: str, data: bytes) -> Iterator[UploadedBody | Notice]:
    try:
        text = data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError:
        yield Notice(label, "Not read: the text is not UTF-8.")
        return
    if not text.strip():
        yield Notice(label, "The file is empty.")
        return
    try:
        whole = _loads(text) if len(data) <= SIZE_LIMIT else None
    except ValueError:
        whole = None
    if whole is None:
        yield from _read_lines(label, text)
        return
    yield from _bodies(label, whole)


def _read_lines(label: str, text: str) -> Iterator[UploadedBody | Notice]:
    # Not str.splitlines: a JSON string may hold U+2028 or U+0085 unescaped.
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) == 1:
        too_large = len(text) > SIZE_LIMIT
        yield Notice(label, TOO_LARGE if too_large else "Not read: this is not JSON.")
        return
    read: list[UploadedBody | Notice] = []
    broken = 0
    for number, line in lines:
        where = f"{label}, line {number}"
        if len(line) > SIZE_LIMIT:
            read.append(Notice(where, TOO_LARGE))
            continue
        try:
            read.extend(_bodies(where, _loads(line.lstrip("\ufeff"))))
        except ValueError:
            broken += 1
            read.append(Notice(where, "Not read: this line is not JSON."))
    if broken == len(lines):
        yield Notice(label, "Not read: neither JSON nor JSON lines.")
        return
    yield from read


def _bodies(label: str, value: Any) -> Iterator[UploadedBody | Notice]:
    if isinstance(value, list) and value and all(isinstance(item, dict) and _is_body(item) for item in value):
        for position, item in enumerate(value, start=1):
            yield UploadedBody(f"{label}, item {position}", as_body(item))
    elif isinstance(value, (dict, list)):
        yield UploadedBody(label, as_body(value))
    else:
        yield Notice(label, "Not read: a dialog is a JSON object, or a list of messages.")


def as_body(value: dict[str, Any] | list[Any]) -> dict[str, Any]:
    """A request body as it is; an upstream payload, or a list of messages, as the `conversationJson` of one."""
    if isinstance(value, dict) and any(name in value for name in REQUEST_FIELDS):
        return value
    body: dict[str, Any] = {"conversationJson": value}
    if isinstance(value, dict):
        body |= {name: value[name] for name in LIFTED if name in value}
    return body


def _is_body(item: Mapping[str, Any]) -> bool:
    return any(name in item for name in (*REQUEST_FIELDS, "data", "favorite", "allMessages", "messages"))


def _loads(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
