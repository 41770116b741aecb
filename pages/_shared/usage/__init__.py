"""The parts of the Usage page."""
