"""The sections of the Operations page, one module each, and what they share."""
