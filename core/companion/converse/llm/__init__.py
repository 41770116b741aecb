"""The one door to any language model: classes of content, tiers, consent, budget, and a record without content."""
