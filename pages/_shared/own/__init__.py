"""The parts of the pages of the operator's own day: entry in one line, what was done with its undo, lists, weeks."""
