"""The tier without a model: questions that are known, answered from live data, each figure with its source."""
