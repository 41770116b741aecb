"""The parts of the Goals page."""
