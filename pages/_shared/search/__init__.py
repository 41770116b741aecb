"""The parts of the Search page."""
