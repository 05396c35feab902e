"""One run: its options, its plan, the model it loads, and its results."""
