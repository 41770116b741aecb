"""Parts of the Prompt audit page."""
