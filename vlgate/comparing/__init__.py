"""Two runs on the same cases: what the later one breaks, and the gates on that."""
