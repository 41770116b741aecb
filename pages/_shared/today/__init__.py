"""The parts of the Today page; `glance` stands on Overview too."""
