"""Profiles of retrieval, judgements of what was found, and whether another profile would be better."""
