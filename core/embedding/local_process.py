"""One worker process of the local model, seen from its parent: start, ask with a deadline, stop."""

from __future__ import annotations

import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from core.errors import BadEmbedding, ProviderMissing, ProviderTimeout, ProviderUnavailable

SCRIPT = Path(__file__).with_name("local_worker.py")
MAX_FRAME = 64 * 1024 * 1024
# What the worker needs of the environment; keys of databases and providers are none of its business.
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "OMP_NUM_THREADS")


class WorkerProcess:
    """Not thread-safe: one question at a time. After any error it is dead; make another."""

    def __init__(self, start_timeout_s: float) -> None:
        """Errors: ProviderMissing where the model cannot be loaded at all, ProviderUnavailable, ProviderTimeout."""
        env = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
        self._process = subprocess.Popen(
            # -P: the script's folder stays off sys.path, where test.py would hide the standard library's.
            [sys.executable, "-P", str(SCRIPT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # PASSIVE: its threads sleep while they wait for each other. Spinning, they cost a query 1.5 s instead of
            # 20 ms as soon as anything else wants the processor.
            env={**env, "OMP_WAIT_POLICY": "PASSIVE", "OPENBLAS_NUM_THREADS": "1"},
            cwd=SCRIPT.anchor,
        )
        assert self._process.stdin and self._process.stdout
        self._write_fd, self._read_fd = self._process.stdin.fileno(), self._process.stdout.fileno()
        os.set_blocking(self._write_fd, False)
        os.set_blocking(self._read_fd, False)
        hello = self._receive(time.monotonic() + start_timeout_s)
        if hello[:1] != b"\0":
            self.stop()
            raise ProviderMissing(
                "The local model cannot be loaded.",
                hint="Reinstall the requirements, or set BESCO_GEMINI_API_KEY to use Gemini.",
                detail=hello[1:].decode("utf-8", "replace"),
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ask(self, texts: Sequence[str], *, query: bool, timeout_s: float) -> np.ndarray:
        """float32 (n, model's dimensions). Errors: ProviderUnavailable (it died), ProviderTimeout, BadEmbedding."""
        deadline = time.monotonic() + timeout_s
        encoded = [text.encode() for text in texts]
        body = bytes([query]) + b"".join(struct.pack("<I", len(text)) + text for text in encoded)
        self._send(struct.pack("<I", len(body)) + body, deadline)
        answer = self._receive(deadline)
        if answer[:1] != b"\0":
            self.stop()
            detail = answer[1:].decode("utf-8", "replace")
            raise BadEmbedding("The local model failed on a text.", hint="Retry with fewer texts.", detail=detail)
        (dimensions,) = struct.unpack_from("<I", answer, 1)
        return np.frombuffer(answer, dtype="<f4", offset=5).reshape(-1, dimensions).astype(np.float32)

    def stop(self) -> None:
        """End the worker: by closing its input, then by force. Idempotent."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream:
                stream.close()
        try:
            self._process.wait(0.5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _send(self, data: bytes, deadline: float) -> None:
        rest = memoryview(data)
        while rest:
            self._wait(deadline, write=True)
            try:
                rest = rest[os.write(self._write_fd, rest) :]
            except BrokenPipeError:
                raise self._died() from None

    def _receive(self, deadline: float) -> bytes:
        size = struct.unpack("<I", self._read(4, deadline))[0]
        if size > MAX_FRAME:
            self.stop()
            raise BadEmbedding("The local model's answer cannot be read.", hint="Retry.", retryable=True)
        return self._read(size, deadline)

    def _read(self, size: int, deadline: float) -> bytes:
        data = bytearray()
        while len(data) < size:
            self._wait(deadline, write=False)
            part = os.read(self._read_fd, size - len(data))
            if not part:
                raise self._died()
            data += part
        return bytes(data)

    def _wait(self, deadline: float, *, write: bool) -> None:
        wanted = [self._write_fd] if write else [self._read_fd]
        ready = select.select([] if write else wanted, wanted if write else [], [], max(0, deadline - time.monotonic()))
        if not (ready[0] or ready[1]):
            self.stop()
            raise ProviderTimeout("The local model gave no answer in time.", hint="Retry; a new worker is started.")

    def _died(self) -> ProviderUnavailable:
        self.stop()
        code = self._process.returncode
        if code == -signal.SIGILL:
            return ProviderUnavailable(
                "The local model needs a processor with AVX2.",
                hint="Set BESCO_GEMINI_API_KEY to use Gemini.",
                retryable=False,
            )
        return ProviderUnavailable(
            "The local model's worker process ended.",
            hint="Retry; a new worker is started.",
            detail=f"exit code {code}",
        )
