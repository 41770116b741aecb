"""Gemini's description of a photo, over a local server that speaks its REST."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pydantic import SecretStr

from core.errors import ProviderError
from core.photos.vision import GeminiVision, VisionFailed, VisionRefused
from tests.core.photos.fake_vision import FakeVision

Make = Callable[..., tuple[FakeVision, GeminiVision]]


@pytest.fixture
def make() -> Iterator[Make]:
    made: list[Any] = []

    def start(*script: str | int, **options: Any) -> tuple[FakeVision, GeminiVision]:
        fake = FakeVision(*script)
        vision = GeminiVision(
            SecretStr("secret-key"),
            "gemini-2.5-flash",
            base_url=fake.url,
            **{"pause_s": 0.01, "timeout_s": 8, **options},
        )
        made.extend((vision, fake))
        return fake, vision

    yield start
    for each in made:
        each.close()


def test_a_description(make: Make) -> None:
    """The image, a schema, the model of the settings; tokens are counted."""
    fake, vision = make()
    look = vision.look(b"\xff\xd8jpeg")
    assert look.seen.subject == "A man with a grey dog." and (look.prompt_tokens, look.completion_tokens) == (300, 60)
    assert fake.images() == [b"\xff\xd8jpeg"] and "gemini-2.5-flash:generateContent" in fake.requests[0]["path"]
    config = fake.requests[0]["body"]["generationConfig"]
    assert config["responseMimeType"] == "application/json" and "responseJsonSchema" in config


@pytest.mark.parametrize("step", ["garbage", "list", "prose", "empty", "cut", "html", 429, 500, 503])
def test_what_may_pass_is_tried_again(make: Make, step: str | int) -> None:
    """Another shape, a full quota, a fault of the server: once, and the next answer counts."""
    fake, vision = make(step)
    assert vision.look(b"x").seen.mood == "calm"
    assert len(fake.requests) == 2


@pytest.mark.parametrize("step", ["garbage", "prose", 500])
def test_three_times_and_no_more(make: Make, step: str | int) -> None:
    """Then the failure, without a word of what was answered."""
    fake, vision = make(*[step] * 5)
    with pytest.raises(VisionFailed) as caught:
        vision.look(b"x")
    assert len(fake.requests) == 3
    said = f"{caught.value} {caught.value.detail}"
    assert "I see a man" not in said and "secret-key" not in said


@pytest.mark.parametrize("step", ["blocked", "safety", 400, 401, 403, 404])
def test_a_refusal_is_final(make: Make, step: str | int) -> None:
    """Asked once; the key and the message stay out of the words."""
    fake, vision = make(step)
    with pytest.raises(VisionRefused) as caught:
        vision.look(b"x")
    assert len(fake.requests) == 1 and not caught.value.retryable
    assert "secret-key" not in f"{caught.value} {caught.value.detail}"


def test_no_answer_in_time(make: Make) -> None:
    """One deadline for all attempts."""
    _, vision = make("slow", "slow", "slow", timeout_s=0.5)
    began = time.monotonic()
    with pytest.raises(VisionFailed, match="in time"):
        vision.look(b"x")
    assert time.monotonic() - began < 3


def test_nobody_there() -> None:
    """A connection that is refused."""
    vision = GeminiVision(SecretStr("k"), "m", base_url="http://127.0.0.1:1", pause_s=0.01, timeout_s=3)
    with pytest.raises(ProviderError):
        vision.look(b"x")
    vision.close()
