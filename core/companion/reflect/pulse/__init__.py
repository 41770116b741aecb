"""Rules that look at the day, the nudges they give, and what the answers to these teach."""
