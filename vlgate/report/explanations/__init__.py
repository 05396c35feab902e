"""``explanations/``: why cases were missed, as pictures and an index."""
