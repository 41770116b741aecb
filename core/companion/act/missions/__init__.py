"""An AI at work on an objective, round by round: plans, guardrails, runs; every change of which a person approves."""
