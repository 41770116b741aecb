"""Gemini through a local server that speaks its REST: the shape of requests, and every failure as a typed error."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from core.embedding.gemini import GeminiEmbedder
from core.embedding.test import TestEmbedder
from core.errors import (
    BadEmbedding,
    ProviderError,
    ProviderRefused,
    ProviderTimeout,
    ProviderUnavailable,
    RateLimited,
)
from tests.core.embedding.fake_gemini import FakeGemini

KEY = "secret-key-123"


def embedder(fake: FakeGemini, **options) -> GeminiEmbedder:
    return GeminiEmbedder(KEY, base_url=fake.url, first_delay_s=0.01, **options)


def test_documents_go_in_batches_of_32_and_come_back_in_order() -> None:
    """70 texts make calls of 32, 32 and 6, with task type and dimensions, rows in the order of the texts."""
    texts = [f"text number {n}" for n in range(70)]
    with FakeGemini() as fake:
        gemini = embedder(fake)
        vectors = gemini.embed_documents(texts)
        gemini.close()
    assert [len(batch) for batch in fake.texts()] == [32, 32, 6]
    assert [text for batch in fake.texts() for text in batch] == texts
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, TestEmbedder().embed_documents(texts), atol=1e-6)
    request = fake.requests[0]
    assert request["path"].endswith("/models/gemini-embedding-001:batchEmbedContents")
    assert {r["taskType"] for r in request["body"]["requests"]} == {"RETRIEVAL_DOCUMENT"}
    assert {r["outputDimensionality"] for r in request["body"]["requests"]} == {768}
    assert {name.lower(): value for name, value in request["headers"].items()}["x-goog-api-key"] == KEY


def test_query_has_its_own_task_type_and_one_vector() -> None:
    """A query is embedded as RETRIEVAL_QUERY and comes back as one row of 768 values."""
    with FakeGemini() as fake:
        vector = embedder(fake).embed_query("serious relationship")
    assert vector.shape == (768,)
    assert fake.requests[0]["body"]["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


def test_no_texts_make_no_request() -> None:
    """An empty list costs nothing and has the table's width."""
    with FakeGemini() as fake:
        assert embedder(fake).embed_documents([]).shape == (0, 768)
    assert fake.requests == []


@pytest.mark.parametrize("failure", [429, 503, 500, "closed"])
def test_passing_failures_are_retried(failure: str | int) -> None:
    """One failure that may pass, and the second attempt answers."""
    with FakeGemini(failure) as fake:
        assert embedder(fake).embed_query("hello").any()
    assert len(fake.requests) == 2


@pytest.mark.parametrize(
    ("failure", "kind", "retryable", "attempts"),
    [
        (429, RateLimited, True, 3),
        (503, ProviderUnavailable, True, 3),
        (504, ProviderTimeout, True, 3),
        ("closed", ProviderUnavailable, True, 3),
        ("cut", ProviderUnavailable, True, 3),
        (501, ProviderUnavailable, False, 1),
        (400, ProviderRefused, False, 1),
        (401, ProviderRefused, False, 1),
        (403, ProviderRefused, False, 1),
        (404, ProviderRefused, False, 1),
        ("short", BadEmbedding, False, 1),
        ("wrong_dimension", BadEmbedding, False, 1),
        ("garbage", BadEmbedding, False, 1),
        ("list", BadEmbedding, False, 1),
        ("nan", BadEmbedding, False, 1),
        ("zeros", BadEmbedding, False, 1),
    ],
)
def test_failures_are_typed_and_hold_no_secret(failure, kind, retryable, attempts) -> None:
    """Each failure has its type, says what to do, and repeats neither key nor text."""
    with FakeGemini(*[failure] * 9) as fake, pytest.raises(ProviderError) as raised:
        embedder(fake, attempts=3).embed_documents(["she wrote about Odesa", "and the sea"])
    error = raised.value
    assert type(error) is kind
    assert error.retryable is retryable
    assert len(fake.requests) == attempts
    assert error.what
    assert error.hint
    said = f"{error} {error.detail} {error!r}"
    assert KEY not in said
    assert "Odesa" not in said
    assert error.__suppress_context__ or error.__context__ is None


def test_batch_with_an_empty_text_is_refused_once() -> None:
    """A text that is only U+200B spoils its batch: ProviderRefused, no loop of retries."""
    with FakeGemini() as fake, pytest.raises(ProviderRefused) as raised:
        embedder(fake).embed_documents(["fine", "\u200b"])
    assert len(fake.requests) == 1
    assert "empty" in raised.value.hint


def test_slow_answer_ends_at_the_deadline() -> None:
    """The deadline covers all attempts: a server that never answers costs timeout_s once."""
    with FakeGemini(*["slow"] * 5, slow_s=3) as fake:
        began = time.monotonic()
        with pytest.raises(ProviderTimeout):
            embedder(fake, timeout_s=0.4).embed_query("hello")
        assert time.monotonic() - began < 2


def test_retry_after_beyond_the_deadline_fails_at_once() -> None:
    """A server that asks for a pause longer than the deadline is not asked again."""
    with FakeGemini(429, retry_after="30") as fake, pytest.raises(RateLimited):
        embedder(fake, timeout_s=2).embed_query("hello")
    assert len(fake.requests) == 1


def test_nobody_listens() -> None:
    """A refused connection is ProviderUnavailable."""
    with FakeGemini() as fake:
        gemini = embedder(fake, attempts=2)
    with pytest.raises(ProviderUnavailable):
        gemini.embed_query("hello")


def test_address_that_is_no_url() -> None:
    """A malformed base URL is refused with the variable's name, without retries."""
    with pytest.raises(ProviderRefused, match="GOOGLE_GEMINI_BASE_URL"):
        GeminiEmbedder(KEY, base_url="gopher://x").embed_query("hello")


def test_failure_of_a_later_batch_fails_the_call() -> None:
    """The second of three batches is short: no vectors at all, not those of the first."""
    with FakeGemini("ok", "short") as fake, pytest.raises(BadEmbedding, match="31 vectors for 32"):
        embedder(fake).embed_documents([f"text {n}" for n in range(96)])
    assert len(fake.requests) == 2


def test_threads_share_one_client() -> None:
    """Eight threads at once get their own vectors."""
    wrong: list[int] = []
    with FakeGemini() as fake:
        gemini = embedder(fake)

        def ask(n: int) -> None:
            expected = TestEmbedder().embed_query(f"word{n}")
            if not np.allclose(gemini.embed_query(f"word{n}"), expected, atol=1e-6):
                wrong.append(n)

        threads = [threading.Thread(target=ask, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert len(fake.requests) == 8


def test_key_is_not_shown() -> None:
    """Neither repr nor the attributes of an embedder print the key."""
    assert KEY not in repr(vars(GeminiEmbedder(KEY)))
