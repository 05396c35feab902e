"""Rules of released scorers that differ from the metric itself, for published figures."""
