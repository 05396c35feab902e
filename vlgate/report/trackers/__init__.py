"""Runs in trackers of experiments, which ``--log-to`` names."""
