"""Models without weights: the answer key, a constant, random replies, text only, and recorded replies."""
