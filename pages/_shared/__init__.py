"""What every page stands on: the frame, one way to the core, cached reads, words, numbers, charts and tables."""
