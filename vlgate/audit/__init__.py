"""What the data give away: flaws of the cases, what text alone solves, labels that are wrong."""
