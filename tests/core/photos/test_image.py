"""Is it an image, and one that may be opened?"""

from __future__ import annotations

import io
import struct
import zlib

import pytest
from PIL import Image

from core.photos.fetch import LIMIT_BYTES, PhotoRefused
from core.photos.image import LONGEST, safe_jpeg
from tests.core.photos.web import png


def _opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF"])
def test_known_kinds(kind: str) -> None:
    """All leave as JPEG of the same size."""
    image = _opened(safe_jpeg(png(kind=kind)))
    assert (image.format, image.size, image.mode) == ("JPEG", (40, 30), "RGB")


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "LA", "1"])
def test_modes(mode: str) -> None:
    """Grey, palette, transparent (on white)."""
    data = io.BytesIO()
    Image.new("RGBA", (8, 8), (0, 0, 0, 0)).convert(mode).save(data, "PNG")
    assert _opened(safe_jpeg(data.getvalue())).mode == "RGB"


def test_place_and_camera_are_gone() -> None:
    """EXIF with a position and a name; the picture is turned upright first."""
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    exif[0x010F] = "Camera of Taras"
    exif.get_ifd(0x8825)[1] = "N"
    made = safe_jpeg(png(40, 30, kind="JPEG", exif=exif, comment=b"Taras at home"))
    assert b"Taras" not in made and not _opened(made).getexif()
    assert _opened(made).size == (30, 40)


def test_large_ones_shrink() -> None:
    """To the longest side that is sent."""
    assert max(_opened(safe_jpeg(png(4000, 1000))).size) == LONGEST


@pytest.mark.parametrize(
    "data",
    [b"", b"x", b"<html></html>", b"%PDF-1.7", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"\x89PNG\r\n\x1a\n",
     b"GIF89a", b"RIFF\x00\x00\x00\x00WEBP", b"\xff\xd8\xff\xe0", b"BM" + b"\x00" * 60],
)  # fmt: skip
def test_what_is_no_image(data: bytes) -> None:
    """By its content, whatever it is called; kinds that are not needed are not opened either."""
    with pytest.raises(PhotoRefused):
        safe_jpeg(data)


@pytest.mark.parametrize("keep", [60, 90, -20])
def test_damaged_ones(keep: int) -> None:
    """Cut or with a wrong checksum."""
    whole = png(300, 300, kind="PNG")
    with pytest.raises(PhotoRefused):
        safe_jpeg(whole[:keep])
    broken = bytearray(whole)
    broken[40] ^= 0xFF
    with pytest.raises(PhotoRefused):
        safe_jpeg(bytes(broken))


@pytest.mark.parametrize("side", [9_000, 20_000, 60_000])
def test_a_bomb_is_not_unpacked(side: int) -> None:
    """A few bytes that claim gigabytes of pixels."""

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(b"\0" * 1000)) + part(b"IEND", b"")
    with pytest.raises(PhotoRefused, match="million pixels"):
        safe_jpeg(bomb)


def test_too_many_bytes() -> None:
    """Also of an upload."""
    with pytest.raises(PhotoRefused, match="larger"):
        safe_jpeg(b"\0" * (LIMIT_BYTES + 1))
