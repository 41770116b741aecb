"""Benchmarks: ratios and budgets from one run, printed. Nothing here fails a build; machines are shared and noisy."""

from core.events import LOCAL_OPERATOR
from core.events.actor import ask_host

# Whoever runs one may everything, in its threads too.
ask_host(lambda: LOCAL_OPERATOR)
