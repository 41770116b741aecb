"""The record of what each search returned: kept for a while, read by Prompt audit, never changed."""
