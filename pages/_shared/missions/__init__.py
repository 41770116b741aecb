"""The parts of the Missions page."""
