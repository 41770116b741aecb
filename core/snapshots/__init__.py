"""What upstream delivered each day: captured, compared, verified, kept for a while and then let go."""
