"""The parts of the Health page that look back."""
