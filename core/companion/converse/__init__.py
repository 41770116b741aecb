"""Talking: models of three tiers, conversations, routines, one feed."""
