"""The parts of Access."""
