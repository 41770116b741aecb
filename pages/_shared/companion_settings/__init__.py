"""The parts of Companion settings."""
