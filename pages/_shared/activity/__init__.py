"""The parts of the Activity page."""
