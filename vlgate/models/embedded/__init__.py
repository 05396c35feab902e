"""Models whose weights are part of the package."""
