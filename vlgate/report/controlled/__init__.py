"""What the controls of a run found, in its files and as tables."""
