"""Thresholds: ``thresholds.toml`` is read, and metrics become decisions with a reason and an error rate."""
