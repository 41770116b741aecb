"""Goals: what is counted towards a target, in periods, by events."""
