"""The parts of the Routines page."""
