"""The parts of the Insights page."""
