"""From metrics to decisions: the thresholds file, and the decision of each gate."""
