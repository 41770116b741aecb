"""Views that people keep of a page: what belongs to its state, how a link to one opens, the control in the head."""
