"""Looking at events: days, streaks, goals, facts, correlations, rules and their nudges."""
