"""What works, what does not, since when, and what to do about it."""
