"""Six invented weeks of an operator's days, with patterns to be found in them."""
