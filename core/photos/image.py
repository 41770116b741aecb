"""Is it an image, and one that may be opened? Then as a JPEG without anything beside the picture."""

from __future__ import annotations

import io
import struct
import warnings

from PIL import Image, ImageOps, UnidentifiedImageError

from core.photos.fetch import LIMIT_BYTES, PhotoRefused

FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
PIXELS = 40_000_000  # decoded that is 160 MB
LONGEST = 1536  # Gemini sees tiles of 768
QUALITY = 85


def safe_jpeg(data: bytes) -> bytes:
    """The first frame, upright, at most 1,536 pixels long, as JPEG; place, camera and time of the picture are gone.

    Errors: PhotoRefused for what is no image of a known kind, is damaged, or too large to be opened.
    """
    if len(data) > LIMIT_BYTES:
        raise PhotoRefused(f"The image is larger than {LIMIT_BYTES // 2**20} MB.", field="image")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as probe:
                if probe.width * probe.height > PIXELS:
                    raise _bomb()
                probe.verify()
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                image.draft("RGB", (LONGEST, LONGEST))
                return _jpeg(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _bomb() from None
    except UnidentifiedImageError:
        raise PhotoRefused(
            "This is no image of a known kind.", hint=f"Known: {', '.join(FORMATS)}.", field="image"
        ) from None
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError, IndexError, struct.error) as problem:
        raise PhotoRefused("The image is damaged.", detail=type(problem).__name__, field="image") from None


def _jpeg(image: Image.Image) -> bytes:
    upright = ImageOps.exif_transpose(image)
    if upright.mode in ("RGBA", "LA", "P", "PA"):
        layer = upright.convert("RGBA")
        flat = Image.new("RGB", layer.size, (255, 255, 255))
        flat.paste(layer, mask=layer.getchannel("A"))
    else:
        flat = upright.convert("RGB")
    flat.thumbnail((LONGEST, LONGEST))
    flat.info.clear()
    out = io.BytesIO()
    flat.save(out, "JPEG", quality=QUALITY)
    return out.getvalue()


def _bomb() -> PhotoRefused:
    return PhotoRefused(f"The image has more than {PIXELS // 10**6} million pixels.", field="image")
