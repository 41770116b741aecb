"""What every LLM call used: recorded once, never lost, totalled by hour, priced by dated prices."""
