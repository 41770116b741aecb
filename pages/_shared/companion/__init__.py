"""Parts of the companion that stand on many pages: proposals to decide, things to know."""
