"""Personal data in texts, replaced by what kind of data it was. Pure; knows no database and no screen."""

from core.access.masking.alias import person_alias
from core.access.masking.mask import Known, Mask, Span

__all__ = ["Known", "Mask", "Span", "person_alias"]
