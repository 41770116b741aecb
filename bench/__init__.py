"""Benchmarks: ratios and budgets from one run, printed. Nothing here fails a build; machines are shared and noisy."""
