"""The memory of a dialog: payload to chunks, chunks to scores, scores to what reaches the prompt."""
