"""The parts of the Dialogs page."""
