"""Find, check and load checkpoints, and compute the fingerprints of models."""
