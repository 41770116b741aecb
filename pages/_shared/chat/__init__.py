"""The parts of the Chat page."""
