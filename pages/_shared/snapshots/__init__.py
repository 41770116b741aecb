"""The parts of the Snapshots page."""
