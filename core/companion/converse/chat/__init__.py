"""Conversations: a question, tools through the executor, an answer by a model or by rules, all of it kept."""
