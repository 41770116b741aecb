"""Doing something: tools, the policy over them, proposals that wait for a person."""
